import { createFetch, FetchError } from "ofetch";

export default async function () {
  const seen = [];
  const fetch = async (url, init) => {
    seen.push([String(url.url ?? url), init?.method ?? null, new Headers(init?.headers).get("content-type"), init?.body ?? null]);
    return String(url).includes("bad") ? Response.json({ why: "é" }, { status: 422, statusText: "Unprocessable" }) : Response.json({ ok: true });
  };
  const client = createFetch({ fetch, Headers, AbortController }).create({ baseURL: "https://example.com/v1", retry: 0 });
  const got = await client("/x", { query: { a: 1, b: ["y", "z"] } });
  await client("/y", { method: "POST", body: { n: 1 } });
  const failed = await client("/bad").catch(error => [error instanceof FetchError, error.message, error.status, error.data]);
  return [got, seen, failed];
}
