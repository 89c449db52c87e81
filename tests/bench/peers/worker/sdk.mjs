// The official TypeScript SDK in a Worker, with the same two tools: stateless, JSON answers, inputs checked by a schema.
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import total from "../../apps/worker/app/tools/total/handler.js";

const id = z.object({ id: z.number().int().min(1) });
const items = z.object({ items: z.array(z.object({ name: z.string(), price: z.number(), quantity: z.number().int().min(1) })).min(1) });
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });

export default {
  fetch(request, env) {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "peer", version: "0.1.0" });
      server.registerTool("get-user", { description: "Get one user by id.", inputSchema: id }, async ({ id }) => {
        const { results } = await env.DB.prepare("SELECT id, name, email, city, created_at FROM users WHERE id = ?1").bind(id).all();
        return text(results);
      });
      server.registerTool("total", { description: "What some items cost together.", inputSchema: items }, (inputs) => text(total({ inputs })));
      return server;
    });
    return handler.fetch(request);
  },
};
