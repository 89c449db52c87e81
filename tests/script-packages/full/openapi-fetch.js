import createClient from "openapi-fetch";

export default async function () {
  const fetch = async request => Response.json({ url: request.url, method: request.method, body: await request.text(), type: request.headers.get("content-type") }, { status: request.url.includes("/9") ? 404 : 200 });
  const client = createClient({ baseUrl: "https://example.com/", fetch });
  client.use({ onRequest: ({ request }) => { request.headers.set("x-a", "1"); return request; } });
  const got = await client.GET("/items/{id}", { params: { path: { id: "a b" }, query: { tags: ["x", "y"], deep: { k: 1 } } } });
  const posted = await client.POST("/items", { body: { name: "é" } });
  const failed = await client.GET("/items/{id}", { params: { path: { id: 9 } } });
  return [got.data, posted.data, got.response.status, failed.error, failed.data ?? null];
}
