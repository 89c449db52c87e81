import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { z } from "zod";

export default async function () {
  const server = new McpServer({ name: "s", version: "1.0.0" });
  server.registerTool("add", { description: "Adds.", inputSchema: { a: z.number(), b: z.number() } }, async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
  const client = new Client({ name: "c", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  const listed = (await client.listTools()).tools.map(tool => [tool.name, tool.inputSchema.required]);
  const called = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } });
  const refused = await client.callTool({ name: "add", arguments: { a: "x", b: 3 } });
  return [listed, called, refused.isError];
}
