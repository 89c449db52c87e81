import ky, { HTTPError, TimeoutError } from "ky";

export default async function () {
  let tries = 0;
  const fetch = async request => {
    const url = new URL(request.url);
    if (url.pathname.endsWith("flaky") && tries++ === 0) return new Response("busy", { status: 503, headers: { "retry-after": "0" } });
    if (url.pathname.endsWith("missing")) return new Response("{}", { status: 404, statusText: "Not Found" });
    return Response.json({ url: request.url, method: request.method, body: await request.text(), type: request.headers.get("content-type"), key: request.headers.get("x-key") });
  };
  const api = ky.create({ fetch, prefixUrl: "https://example.com/api", headers: { "x-key": "ü".normalize("NFD").slice(0, 1) }, retry: { limit: 2, delay: () => 1 } });
  const got = await api.get("x", { searchParams: { q: "a b", n: 1 } }).json();
  const posted = await api.post("y", { json: { n: 1 } }).json();
  const retried = await api.get("flaky").json();
  const failed = await api.get("missing").json().catch(error => [error instanceof HTTPError, error.name, error.message, error.response.status]);
  return [got, posted, retried.method, tries, failed, typeof TimeoutError];
}
