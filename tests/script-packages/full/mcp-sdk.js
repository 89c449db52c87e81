import { CallToolResultSchema, JSONRPCMessageSchema, ListToolsResultSchema, McpError, ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import { UriTemplate } from "@modelcontextprotocol/sdk/shared/uriTemplate.js";

export default function () {
  const template = new UriTemplate("shop://orders/{id}{?page,size}");
  const broken = ListToolsResultSchema.safeParse({ tools: [{ name: 1 }] });
  return {
    result: CallToolResultSchema.parse({ content: [{ type: "text", text: "hí" }] }),
    message: JSONRPCMessageSchema.parse({ jsonrpc: "2.0", id: 7, method: "tools/list" }),
    issues: broken.error.issues.map(issue => [issue.path.join("."), issue.code]),
    expanded: template.expand({ id: "a b", page: "2", size: "10" }),
    matched: template.match("shop://orders/42"),
    error: String(new McpError(ErrorCode.InvalidParams, "what", { a: 1 })),
  };
}
