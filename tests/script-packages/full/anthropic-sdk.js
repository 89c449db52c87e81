import Anthropic from "@anthropic-ai/sdk";

export default async function () {
  const seen = [];
  const fetch = async (url, init) => {
    const body = JSON.parse(init.body);
    seen.push([String(url), new Headers(init.headers).get("x-api-key"), new Headers(init.headers).get("anthropic-version"), body]);
    if (body.stream) return new Response('event: message_start\ndata: {"type":"message_start","message":{"id":"m","content":[]}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hé"}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n', { headers: { "content-type": "text/event-stream" } });
    return body.max_tokens ? Response.json({ id: "m", content: [{ type: "text", text: "hi" }], usage: { input_tokens: 1 } }) : Response.json({ type: "error", error: { type: "invalid_request_error", message: "max_tökens" } }, { status: 400 });
  };
  const client = new Anthropic({ apiKey: "k", baseURL: "https://example.com", fetch, maxRetries: 0 });
  const answer = await client.messages.create({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "é" }] });
  const failed = await client.messages.create({ model: "m", messages: [] }).catch(error => [error instanceof Anthropic.BadRequestError, error.status, error.message]);
  const types = [];
  for await (const event of await client.messages.create({ model: "m", max_tokens: 1, messages: [], stream: true })) types.push(event.type);
  return [answer, failed, types, seen];
}
