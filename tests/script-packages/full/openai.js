import OpenAI, { APIError, toFile } from "openai";

export default async function () {
  const seen = [];
  const fetch = async (url, init) => {
    seen.push([String(url), init.method, new Headers(init.headers).get("authorization"), typeof init.body === "string" ? JSON.parse(init.body) : typeof init.body]);
    if (String(url).endsWith("/models")) return Response.json({ error: { message: "nö", type: "x", code: "c" } }, { status: 401 });
    if (seen.length === 3) return new Response('data: {"choices":[{"delta":{"content":"Hé"}}]}\n\ndata: {"choices":[{"delta":{"content":"y"}}]}\n\ndata: [DONE]\n\n', { headers: { "content-type": "text/event-stream" } });
    return Response.json({ id: "r", choices: [{ message: { role: "assistant", content: "hi" } }] });
  };
  const client = new OpenAI({ apiKey: "k", baseURL: "https://example.com/v1", fetch, maxRetries: 0 });
  const answer = await client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "é" }] });
  const failed = await client.models.list().catch(error => [error instanceof APIError, error.status, error.message, error.code, error.constructor.name]);
  let text = "";
  for await (const chunk of await client.chat.completions.create({ model: "m", messages: [], stream: true })) text += chunk.choices[0].delta.content;
  return [answer.choices[0].message, failed, text, seen, (await toFile(new Uint8Array([1]), "a.txt")).name];
}
