// The official TypeScript SDK with the same two tools, and the least that a runtime has to do: ask, answer, ask again. Stateless, JSON
// answers.
import http from "node:http";
import { DatabaseSync } from "node:sqlite";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import total from "../../apps/worker/app/tools/total/handler.js";

const id = z.object({ id: z.number().int().min(1) });
const items = z.object({ items: z.array(z.object({ name: z.string(), price: z.number(), quantity: z.number().int().min(1) })).min(1) });
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const database = new DatabaseSync(process.env.SHOP_DB, { readOnly: true });
const user = database.prepare("SELECT id, name, email, city, created_at FROM users WHERE id = ?1");

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "peer", version: "0.1.0" });
  server.registerTool("get-user", { description: "Get one user by id.", inputSchema: id }, ({ id }) => text(user.all(id)));
  server.registerTool("total", { description: "What some items cost together.", inputSchema: items }, (inputs) => text(total({ inputs })));
  return server;
});

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(":");
const agent = new http.Agent({ keepAlive: true });
const ask = (method, path, body) =>
  new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, agent, method, path: `/2018-06-01/runtime/invocation/${path}` }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve({ headers: response.headers, body: Buffer.concat(chunks).toString() }));
    });
    request.on("error", reject);
    request.end(body);
  });

for (;;) {
  const invocation = await ask("GET", "next");
  const event = JSON.parse(invocation.body);
  const { method } = event.requestContext.http;
  const request = new Request(`https://${event.headers.host}${event.rawPath}`, { method, headers: event.headers, body: event.body });
  const response = await handler.fetch(request);
  const answer = { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text(), isBase64Encoded: false };
  await ask("POST", `${invocation.headers["lambda-runtime-aws-request-id"]}/response`, JSON.stringify(answer));
}
