#!/usr/bin/env bash
# Instructions of one `tools/call` through the core: the difference of 1,100 and 100 calls, over 1,000. The same binary gives the same
# number.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=target/release/examples/one_call
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
few=$(count 100)
many=$(count 1100)
echo "instructions of one tools/call through the core (ten rows): $(((many - few) / 1000))"
