import { PostgrestClient } from "@supabase/postgrest-js";

export default async function () {
  const seen = [];
  const fetch = async (url, init) => {
    seen.push([String(url), init.method, new Headers(init.headers).get("prefer"), init.body ?? null]);
    return String(url).includes("broken") ? Response.json({ code: "42P01", message: "relation é", details: null, hint: null }, { status: 404 }) : Response.json([{ id: 1 }], { headers: { "content-range": "0-0/7" } });
  };
  const client = new PostgrestClient("https://example.com/rest", { fetch, schema: "api" });
  const read = await client.from("t").select("id, u(name)", { count: "exact" }).eq("a", "x y").in("b", [1, 2]).or("c.gt.1,d.is.null").order("id", { ascending: false }).range(0, 9);
  const wrote = await client.from("t").upsert({ id: 1, n: "é" }, { onConflict: "id" }).select().single();
  const failed = await client.from("broken").delete().match({ a: 1 });
  const called = await client.rpc("add", { a: 1 });
  return [read.data, read.count, wrote.error, failed.error, called.status, seen];
}
