// `node serve.mjs`: many built Workers in one workerd, each on a port of its own. The first line of input is a list of
// `{ folder, main, variables, seeds: { BINDING: SQL } }`: a folder with `wrangler.toml`, and with `.dev.vars` beside it; its entry module;
// more variables; and what fills its D1 databases. The first line of output is the list of their ports. What the Workers log goes to standard error. Ends
// with its input.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

// From where `scripts/setup` put it, wherever this file is.
const require = createRequire(join(process.env.MILLRACE_TEST_TOOLS, "worker/package.json"));
const { Miniflare, convertV4MiniflareOptions } = require("miniflare");
const { unstable_getMiniflareWorkerOptions: optionsOf, unstable_splitSqlQuery: split } = require("wrangler");

const KINDS = { mjs: "ESModule", js: "ESModule", bin: "Data", wasm: "CompiledWasm" };

/** The modules of a build, the entry first. */
function modulesOf(main) {
  const root = dirname(main);
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => path !== main);
  const kind = (path) => KINDS[path.split(".").at(-1)];
  return [main, ...paths.filter(kind)].map((path) => ({ type: kind(path), path }));
}

/** What a name of a database or a store is in one Worker only: two Workers that name the same would share it. */
function apart(stores = {}, name) {
  return Object.fromEntries(Object.entries(stores).map(([binding, { id }]) => [binding, { id: `${name}-${id}` }]));
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const wanted = JSON.parse((await lines.next()).value);
const workers = wanted.map(({ folder, main, variables }, number) => {
  const { workerOptions } = optionsOf(join(folder, "wrangler.toml"));
  const name = `worker-${number}`;
  return {
    ...workerOptions,
    name,
    bindings: { ...workerOptions.bindings, ...variables },
    modules: modulesOf(main),
    modulesRoot: dirname(main),
    d1Databases: apart(workerOptions.d1Databases, name),
    kvNamespaces: apart(workerOptions.kvNamespaces, name),
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
});
const log = ({ message }) => void process.stderr.write(`${message}\n`);
const miniflare = new Miniflare(convertV4MiniflareOptions({ host: "127.0.0.1", port: 0, handleStructuredLogs: log, workers }));
await miniflare.ready;
const ports = [];
for (const [number, { seeds }] of wanted.entries()) {
  const { name } = workers[number];
  for (const [binding, sql] of Object.entries(seeds)) {
    const database = await miniflare.getD1Database(binding, name);
    await database.batch(split(sql).map((statement) => database.prepare(statement)));
  }
  ports.push(Number((await miniflare.unsafeGetDirectURL(name)).port));
}
console.log(JSON.stringify(ports));
await lines.next();
await miniflare.dispose();
