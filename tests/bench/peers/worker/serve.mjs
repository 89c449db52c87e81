// `node serve.mjs FOLDER SQL`: a folder with `entry.mjs` in a workerd of its own, with a D1 database `DB` that the SQL file fills. Prints its address.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Miniflare } from "miniflare";

const [folder, sql] = process.argv.slice(2);
const KINDS = { mjs: "esm", js: "esm", bin: "data", wasm: "wasm" };
const modules = {};
for (const name of readdirSync(folder, { recursive: true })) {
  const type = KINDS[name.split(".").at(-1)];
  if (type) modules[name] = { type, contents: type === "esm" ? readFileSync(join(folder, name), "utf8") : new Uint8Array(readFileSync(join(folder, name))) };
}
const miniflare = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  workers: [
    {
      config: {
        name: "bench",
        compatibilityDate: "2026-11-01",
        compatibilityFlags: ["enable_request_signal"],
        manifest: { mainModule: "entry.mjs", modulesRoot: folder, modules },
        env: { DB: { type: "d1", id: "bench" } },
      },
    },
  ],
});
const address = await miniflare.ready;
const database = await miniflare.getD1Database("DB");
const statements = readFileSync(sql, "utf8").split(/;\s*$/m).map((text) => text.trim()).filter(Boolean);
for (const statement of statements) await database.prepare(statement).run();
console.log(address.port);
