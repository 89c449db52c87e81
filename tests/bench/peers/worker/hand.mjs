// A JSON-RPC Worker by hand, without any SDK: what somebody writes who needs two tools and nothing else.
import total from "../../apps/worker/app/tools/total/handler.js";

const TOOLS = {
  async "get-user"({ id }, env) {
    if (!Number.isInteger(id) || id < 1) throw new Error("`id` has to be a whole number from 1");
    const { results } = await env.DB.prepare("SELECT id, name, email, city, created_at FROM users WHERE id = ?1").bind(id).all();
    return results;
  },
  total({ items }) {
    if (!Array.isArray(items) || items.length === 0) throw new Error("`items` has to be a list");
    return total({ inputs: { items } });
  },
};

export default {
  async fetch(request, env) {
    const { id, method, params } = await request.json();
    const reply = (rest) => Response.json({ jsonrpc: "2.0", id, ...rest });
    if (method !== "tools/call") return reply({ error: { code: -32601, message: "method not found" } });
    const tool = TOOLS[params.name];
    if (!tool) return reply({ error: { code: -32601, message: "unknown tool" } });
    try {
      const value = await tool(params.arguments ?? {}, env);
      return reply({ result: { content: [{ type: "text", text: JSON.stringify(value) }], isError: false } });
    } catch (error) {
      return reply({ result: { content: [{ type: "text", text: error.message }], isError: true } });
    }
  },
};
