// `node server.mjs PORT ROWS`: the official TypeScript SDK, with tools that return the rows of the file ROWS as text and as structured content.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { z } from "zod";

const rows = JSON.parse(readFileSync(process.argv[3], "utf8"));
const columns = Object.fromEntries(
  Object.entries(rows[0]).map(([name, value]) => [name, { string: z.string(), number: z.number(), boolean: z.boolean() }[typeof value]]),
);
const outputSchema = z.object({ rows: z.array(z.object(columns)) });
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "peer", version: "0.1.0" });
  for (const [name, indent] of [["pretty", 2], ["compact", 0]]) {
    server.registerTool(name, { description: "The invoices.", inputSchema: z.object({}), outputSchema }, () => ({
      content: [{ type: "text", text: JSON.stringify({ rows }, null, indent) }],
      structuredContent: { rows },
    }));
  }
  return server;
});
createServer(toNodeHandler(handler)).listen(Number(process.argv[2]), "127.0.0.1");
