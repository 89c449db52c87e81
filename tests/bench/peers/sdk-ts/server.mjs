// `node server.mjs PORT`: the official TypeScript SDK with one tool that adds two numbers. Stateless, JSON answers.
import { createServer } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { z } from "zod";

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "peer", version: "0.1.0" });
  server.registerTool(
    "add",
    { description: "Add two numbers.", inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => ({ content: [{ type: "text", text: JSON.stringify({ sum: a + b }) }] }),
  );
  return server;
});
createServer(toNodeHandler(handler)).listen(Number(process.argv[2]), "127.0.0.1", () => console.log("ready"));
