#!/usr/bin/env bash
# Instructions of one `tools/call` through the core: the difference of 1,100 and 100 calls, over 1,000. The same binary gives the same
# number.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=target/release/examples/one_call
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
of_one() {
  echo "instructions of one tools/call through the core ($1): $((($(count 1100 "${@:2}") - $(count 100 "${@:2}")) / 1000))"
}
of_one "ten rows"
of_one "ten rows, a small app" none
of_one "three declarative entries of middleware" declarative
of_one "three scripts of middleware" scripts
of_one "a handler in script" script
