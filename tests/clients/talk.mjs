// `node talk.mjs STREAMS ROUNDS`: progress, log lines and questions, as the official TypeScript client hears and answers them. Each
// server is an address, or JSON with the command to start, its arguments and variables.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [streams, rounds] = process.argv.slice(2);
const info = { name: "millrace-tests", version: "1.0.0" };
const lines = [];

async function connect(server, pin) {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const client = new Client(info, pin ? { capabilities, versionNegotiation: { mode: { pin } } } : { capabilities });
  client.setNotificationHandler("notifications/message", ({ params }) => lines.push(`${params.level}: ${params.data}`));
  client.setRequestHandler("elicitation/create", ({ params }) =>
    params.requestedSchema.properties.answer
      ? { action: "accept", content: { answer: params.message === "First?" ? "Ada" : "Bob" } }
      : { action: "accept", content: params.requestedSchema.properties.name ? { name: "Ada" } : {} },
  );
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "Paris" },
  }));
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///home" }] }));
  const isUrl = server.startsWith("http");
  await client.connect(isUrl ? new StreamableHTTPClientTransport(new URL(server)) : new StdioClientTransport(JSON.parse(server)));
  return client;
}
const text = (result) => result.content[0].text;

const out = {};
for (const pin of ["2026-07-28", undefined]) {
  const client = await connect(streams, pin);
  const progress = [];
  const onprogress = ({ progress: done, total }) => progress.push([done, total ?? null]);
  const result = await client.callTool({ name: "progress", arguments: {} }, { onprogress });
  lines.length = 0;
  const _meta = pin && { "io.modelcontextprotocol/logLevel": "warning" };
  const logged = await client.callTool({ name: "logs", arguments: {}, _meta });
  await client.close();
  out[pin ?? "legacy"] = { progress, result: text(result), lines: [...lines], logged: text(logged) };
}
// A legacy client can only be asked over a pipe.
for (const pin of rounds.startsWith("http") ? ["2026-07-28"] : ["2026-07-28", undefined]) {
  const client = await connect(rounds, pin);
  const call = async (name, args = {}) => text(await client.callTool({ name, arguments: args }));
  const answers = [await call("ask"), await call("twice"), await call("sample"), await call("confirmed", { id: 7 }), await call("adapts")];
  out[pin ? "rounds" : "legacy rounds"] = answers;
  await client.close();
}
console.log(JSON.stringify(out));
