// Calls the tools, prompts and resources of an app in a test, through its whole pipeline: a process of the command answers all calls of a file.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { command, environment } from "./command.js";

/** The folder of the app around a folder: the nearest with its root file. */
function around(folder) {
  for (let at = folder; ; at = dirname(at)) {
    if (["millrace.yaml", "millrace.yml"].some((root) => existsSync(join(at, root)))) return at;
    if (dirname(at) === at) throw new Error(`no folder from ${folder} upwards has a millrace.yaml; name the app's folder: { app: "…" }`);
  }
}

function folderOf(app) {
  if (app === undefined) return around(process.cwd());
  return app instanceof URL || /^file:/.test(app) ? fileURLToPath(app) : resolve(app);
}

/** The command that answers the calls of an app, one line each. */
class Calls {
  #pending = new Map();
  #last = 0;
  #said = "";
  #rest = "";

  constructor(app, databases, ended) {
    const values = ["test", app, "--calls", ...databases.flatMap((name) => ["--database", name])];
    this.child = spawn(command(), values, { env: environment(), stdio: "pipe" });
    const { stdin, stdout, stderr } = this.child;
    stdout.setEncoding("utf8").on("data", (text) => this.#read(text));
    stderr.setEncoding("utf8").on("data", (text) => {
      this.#said = (this.#said + text).slice(-65536);
    });
    // Whoever waits is told by `close`.
    stdin.on("error", () => {});
    this.child.on("error", (error) => this.#end(ended, error));
    this.child.on("close", () => this.#end(ended, new Error(this.#said.trim() || `millrace test ${app} ended`)));
    this.#hold(false);
  }

  /** Keeps this process alive while somebody waits for an answer, and only then. */
  #hold(waits) {
    for (const part of [this.child, this.child.stdin, this.child.stdout, this.child.stderr]) part[waits ? "ref" : "unref"]?.();
  }

  ask(test) {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#pending.set(id, { resolve, reject });
      this.#hold(true);
      this.child.stdin.write(`${JSON.stringify({ id, test })}\n`);
    });
  }

  #read(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) {
      const { id, problem, ...answer } = JSON.parse(line);
      const waiting = this.#pending.get(id);
      this.#pending.delete(id);
      if (problem === undefined) waiting?.resolve(answer);
      else waiting?.reject(new Error(problem));
    }
    if (this.#pending.size === 0) this.#hold(false);
  }

  #end(ended, error) {
    ended();
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

const running = new Map();

function calls(app, databases) {
  const key = JSON.stringify([app, databases]);
  let found = running.get(key);
  if (!found) {
    found = new Calls(app, databases, () => running.get(key) === found && running.delete(key));
    running.set(key, found);
  }
  return found;
}

/** A time as a test has it. */
const time = (now) => (now instanceof Date || typeof now === "number" ? new Date(now).toISOString() : now);

async function call(subject, { app, databases = [], caller, now, rows = [], ...given }) {
  const test = { name: "call", expect: { result: {}, notifications: [], rows: [] } };
  for (const [key, value] of Object.entries({ ...given, as: caller, now: time(now) })) if (value !== undefined) test[key] = value;
  const asked = rows.map((row) => (typeof row === "string" ? { sql: row } : row));
  test.expect.rows = asked.map((row) => ({ ...row, equals: [] }));
  const { error, ...answer } = await calls(folderOf(app), databases).ask({ ...subject, tests: [test] });
  return { ...answer, code: error?.code ?? null, message: error?.message ?? null };
}

export const testTool = (tool, options = {}) => call({ tool }, options);
export const testPrompt = (prompt, options = {}) => call({ prompt }, options);
export const testResource = (resource, options = {}) => call({ resource }, options);
