// `node serve.mjs FOLDER SQL [NAME=value…]`: a folder with `entry.mjs` in a workerd of its own, with a D1 database `DB` that the SQL file
// fills, and variables. Prints its port. Each line of input is answered with the bytes that the Worker's isolate uses: its heap and what
// hangs on it after a collection of garbage, and the memory of wasm. Ends with its input.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

// From where `scripts/setup` put it, wherever this file is.
const { Miniflare } = createRequire(join(process.env.MILLRACE_TEST_TOOLS, "worker/package.json"))("miniflare");
const [folder, sql, ...variables] = process.argv.slice(2);
const texts = variables.map((text) => [text.split("=", 1)[0], { type: "text", value: text.slice(text.indexOf("=") + 1) }]);
const KINDS = { mjs: "esm", js: "esm", bin: "data", wasm: "wasm" };
const modules = {};
for (const name of readdirSync(folder, { recursive: true })) {
  const type = KINDS[name.split(".").at(-1)];
  if (type) modules[name] = { type, contents: type === "esm" ? readFileSync(join(folder, name), "utf8") : new Uint8Array(readFileSync(join(folder, name))) };
}
// The Worker with a look into the memory of wasm.
const encode = (text) => ({ type: "esm", contents: text });
modules["memories.mjs"] = encode(`
  export const memories = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      if (this.exports.memory) memories.push(this.exports.memory);
    }
  };`);
modules["watched.mjs"] = encode(`
  import { memories } from "./memories.mjs";
  import app from "./entry.mjs";
  export default {
    fetch(request, env, context) {
      if (!request.url.endsWith("/__memory")) return app.fetch(request, env, context);
      return new Response(String(memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0)));
    },
  };`);
const miniflare = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  inspectorPort: 0,
  // The output is for answers.
  handleStructuredLogs: ({ message }) => void process.stderr.write(`${message}\n`),
  workers: [
    {
      config: {
        name: "bench",
        compatibilityDate: "2026-11-01",
        compatibilityFlags: ["enable_request_signal"],
        manifest: { mainModule: "watched.mjs", modulesRoot: folder, modules },
        env: { DB: { type: "d1", id: "bench" }, ...Object.fromEntries(texts) },
      },
    },
  ],
});
const address = await miniflare.ready;
const database = await miniflare.getD1Database("DB");
const statements = readFileSync(sql, "utf8").split(/;\s*$/m).map((text) => text.trim()).filter(Boolean);
for (const statement of statements) await database.prepare(statement).run();
console.log(address.port);

let last = 0;
const waiting = new Map();
let inspector;

/** Asks the isolate by the protocol of Chrome's developer tools. */
async function ask(method) {
  if (!inspector) {
    const url = await miniflare.getInspectorURL();
    const targets = await (await fetch(new URL("/json", url.href.replace("ws:", "http:")))).json();
    inspector = new WebSocket(targets.find(({ id }) => id === "core:user:bench").webSocketDebuggerUrl);
    inspector.onmessage = ({ data }) => {
      const { id, result } = JSON.parse(data);
      waiting.get(id)?.(result);
      waiting.delete(id);
    };
    await new Promise((resolve, reject) => Object.assign(inspector, { onopen: resolve, onerror: reject }));
  }
  const id = (last += 1);
  inspector.send(JSON.stringify({ id, method }));
  return new Promise((resolve) => waiting.set(id, resolve));
}

for await (const _ of createInterface({ input: process.stdin })) {
  // A snapshot of the heap begins with a whole collection. The command for that alone waits for a task that workerd never runs.
  await ask("HeapProfiler.takeHeapSnapshot");
  const { usedSize, embedderHeapUsedSize } = await ask("Runtime.getHeapUsage");
  const wasm = Number(await (await miniflare.dispatchFetch(new URL("/__memory", address))).text());
  console.log(usedSize + embedderHeapUsedSize + wasm);
}
await miniflare.dispose();
