// Finds the command of this platform's package, and the runtimes that it deploys with.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";

const require = createRequire(import.meta.url);
const platforms = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-x64"];

/** The folder of an installed package; `undefined` where it is not installed. */
function folder(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** The path of the command. `MILLRACE_BINARY` names another one. */
export function command() {
  if (process.env.MILLRACE_BINARY) return process.env.MILLRACE_BINARY;
  const platform = `${process.platform}-${process.arch}`;
  if (!platforms.includes(platform)) {
    throw new Error(`Millrace is not published for ${platform}, only for ${platforms.join(", ")}; build it from source and set MILLRACE_BINARY to its path`);
  }
  const found = folder(`@millrace/${platform}`);
  if (!found) {
    throw new Error(`the package @millrace/${platform} is not installed; install millrace on this machine, with its optional dependencies (npm install --include=optional)`);
  }
  return join(found, "bin", process.platform === "win32" ? "millrace.exe" : "millrace");
}

/** The environment of the command: that of this process, and where the runtimes are. */
export function environment(variables = process.env) {
  const runtimes = folder("@millrace/runtimes");
  return runtimes && !variables.MILLRACE_RUNTIMES ? { ...variables, MILLRACE_RUNTIMES: runtimes } : variables;
}
