// Sends requests with Supabase's own client: `node postgrest.mjs CLIENT URL VALUES`. Prints what it got for each value, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , client, url, values] = process.argv;
const { PostgrestClient } = createRequire(import.meta.url)(client);
const api = new PostgrestClient(url);
const got = async (request) => {
  const { data, count, error } = await request;
  return error ? { error: error.code } : (data ?? count);
};
const found = [];
for (const value of JSON.parse(readFileSync(values, "utf8"))) {
  found.push([
    await got(api.from("vals").select("id, parts!inner(s)").eq("s", value).order("id")),
    await got(api.from("vals").select("id").in("s", [value, "nothing else"]).order("id")),
    await got(api.from("vals").select("id").contains("data", { k: [value] }).order("id")),
    await got(api.from("vals").select("id").not("s", "eq", value).order("id").limit(3)),
    await got(api.from("vals").select("id").eq("parts.s", value).order("id", { ascending: false }).range(1, 2)),
    await got(api.rpc("echo", { s: value })),
    await got(api.from("kept").insert({ s: value }).select("s")),
    await got(api.from("kept").upsert({ id: 1, s: value }, { onConflict: "id" }).select("id,s")),
    await got(api.from("kept").update({ s: "x" }).eq("s", value).select("s")),
    await got(api.from("vals").select("*", { count: "exact", head: true }).eq("s", value)),
  ]);
}
console.log(JSON.stringify(found));
