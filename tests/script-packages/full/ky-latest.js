import ky from "ky-latest";

export default async function () {
  const fetch = async request => (request.url.endsWith("missing") ? new Response("{}", { status: 404 }) : Response.json({ url: request.url, method: request.method, body: await request.text() }));
  const api = ky.extend({ fetch, retry: 0, hooks: { beforeRequest: [], afterResponse: [] } });
  return [await api.get("https://example.com/x", { searchParams: { q: "ä b" } }).json(), await api.post("https://example.com/y", { json: { n: 1 } }).json(), await api.get("https://example.com/missing").catch(error => [error.name, error.response.status])];
}
