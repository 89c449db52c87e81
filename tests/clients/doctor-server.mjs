// `node doctor-server.mjs PORT`: a server of the official TypeScript SDK, version 2, as its documentation writes one, for `millrace doctor` to look at.
import { createServer } from "node:http";

import { localhostOriginValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "weather", version: "2.0.0" });
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  server.registerTool(
    "stations",
    { title: "Stations", description: "All stations.", outputSchema: z.object({ names: z.array(z.string()) }), annotations },
    async () => ({ content: [{ type: "text", text: "Lisbon" }], structuredContent: { names: ["Lisbon"] } }),
  );
  server.registerTool(
    "temperature",
    { description: "The temperature of a station.", inputSchema: z.object({ station: z.string(), unit: z.enum(["c", "f"]).nullable() }) },
    async ({ station }) => ({ content: [{ type: "text", text: `21 in ${station}` }] }),
  );
  return server;
});
const listener = toNodeHandler(handler);
const isAllowed = localhostOriginValidation();
createServer((request, response) => {
  if (isAllowed(request, response)) void listener(request, response);
}).listen(Number(process.argv[2]), "127.0.0.1");
