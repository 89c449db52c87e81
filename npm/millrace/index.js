// Checks and builds apps from JavaScript, by the command's own JSON.
import { spawn } from "node:child_process";
import { command, environment } from "./command.js";

// What handlers import, so that they can be tested under Node.
export * from "./script.js";
// What tests of an app call.
export * from "./test.js";

/** A command that failed without an answer: its exit code, and what it said. */
export class CommandError extends Error {
  name = "CommandError";

  constructor(message, exitCode, stderr) {
    super(message);
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

function run(values, { cwd, env, signal } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command(), values, { cwd, env: environment(env), signal, stdio: ["ignore", "pipe", "pipe"] });
    const output = { stdout: [], stderr: [] };
    for (const name of ["stdout", "stderr"]) child[name].on("data", (chunk) => output[name].push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      const stderr = Buffer.concat(output.stderr).toString();
      try {
        resolve(JSON.parse(Buffer.concat(output.stdout).toString()));
      } catch {
        const said = stderr.trim().replace(/^error: /, "");
        reject(new CommandError(said || `millrace ${values[0]} gave no answer`, code, stderr));
      }
    });
  });
}

/** A path as an argument: one that begins with `-` is not an option. */
const path = (value) => (value.startsWith("-") ? `./${value}` : value);

export async function check(app = ".", { target, connect = false, ...options } = {}) {
  const values = ["check", path(app), "--json"];
  if (target) values.push("--target", target);
  if (connect) values.push("--connect");
  return run(values, options);
}

export async function build(app = ".", { target, out, arch, ...options } = {}) {
  const values = ["build", path(app), "--json", "--target", target ?? "local"];
  if (out) values.push("--out", path(out));
  if (arch) values.push("--arch", arch);
  return run(values, options);
}
