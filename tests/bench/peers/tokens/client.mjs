// `node client.mjs URL TOOL`: the official TypeScript client calls a tool without arguments, and prints what the server sent: the texts and
// the structured content.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, tool] = process.argv.slice(2);
const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { content, structuredContent, isError } = await client.callTool({ name: tool, arguments: {} });
await client.close();
if (isError) throw new Error(JSON.stringify(content));
console.log(JSON.stringify({ texts: content.map((block) => block.text), structured: structuredContent ?? null }));
