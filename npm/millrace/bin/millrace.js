#!/usr/bin/env node
// Starts the command of this platform. Its input, output, signals and exit code are those of the command.
import { spawn } from "node:child_process";
import process from "node:process";
import { command, environment } from "../command.js";

let path;
try {
  path = command();
} catch (error) {
  process.stderr.write(`error: ${error.message}\n`);
  process.exit(1);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit", env: environment() });

// A terminal sends Ctrl-C to the command as well; a second one would end it at once.
const isTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
process.on("SIGINT", () => isTerminal || child.kill("SIGINT"));

child.on("error", (error) => {
  process.stderr.write(`error: ${path} could not be started: ${error.message}\n`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exitCode = code;
    return;
  }
  // Whoever waits for this process sees the signal that ended the command.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
