// The configuration formats of clients, as their makers publish them; standard input has what `millrace connect CLIENT --json` prints, an
// array of it. Each schema is strict: a member that the client does not know is an error. VS Code, Codex and Gemini CLI: from their source code, in
// November 2026. Claude Code, Cursor and Claude Desktop publish no schema: from the examples of their documentation, and no more than those show.
import { readFileSync } from "node:fs";
import { z } from "zod";

const texts = z.array(z.string());
const map = z.record(z.string(), z.string());
const command = z.strictObject({ command: z.string().min(1), args: texts.optional(), env: map.optional() });
const url = z.url({ protocol: /^https?$/ });

// code.visualstudio.com/docs/copilot/reference/mcp-configuration; src/vs/workbench/contrib/mcp/common/mcpConfiguration.ts of microsoft/vscode.
const vscodeServer = z.union([
  command.extend({ type: z.literal("stdio"), cwd: z.string().optional(), envFile: z.string().optional() }),
  z.strictObject({ type: z.enum(["http", "sse"]), url, headers: map.optional() }),
]);
const vscodeInput = z.strictObject({ type: z.literal("promptString"), id: z.string(), description: z.string(), password: z.boolean().optional() });

// `RawMcpServerConfig` in codex-rs/config/src/mcp_types.rs of openai/codex: members of one transport are refused for the other.
const codex = z.union([
  command.extend({ env_vars: texts.optional(), cwd: z.string().optional() }),
  z.strictObject({ url, bearer_token_env_var: z.string().optional(), http_headers: map.optional(), env_http_headers: map.optional() }),
]);

// `MCPServerConfig` in schemas/settings.schema.json of google-gemini/gemini-cli.
const gemini = z.union([
  command.extend({ cwd: z.string().optional(), type: z.literal("stdio").optional() }),
  z.strictObject({ type: z.enum(["sse", "http"]), url, headers: map.optional() }),
]);

// cursor.com/docs/mcp: `type` is required of a command, and not there with a `url`.
const cursor = z.union([
  command.extend({ type: z.literal("stdio"), envFile: z.string().optional() }),
  z.strictObject({ url, headers: map.optional() }),
]);

// code.claude.com/docs/en/mcp.
const claudeCode = z.union([
  command.extend({ type: z.literal("stdio").optional() }),
  z.strictObject({ type: z.enum(["http", "sse"]), url, headers: map.optional() }),
]);

// modelcontextprotocol.io/docs/develop/connect-local-servers: Claude Desktop reads commands only.
const forms = {
  "claude-desktop": ["json", { mcpServers: command }],
  "claude-code": ["json", { mcpServers: claudeCode }],
  cursor: ["json", { mcpServers: cursor }],
  vscode: ["json", { servers: vscodeServer }],
  codex: ["toml", { mcp_servers: codex }],
  "gemini-cli": ["json", { mcpServers: gemini }],
  "mcp-remote": ["json", { mcpServers: command }],
};

let checked = 0;
for (const one of JSON.parse(readFileSync(0, "utf8"))) {
  const [format, section] = forms[one.client];
  const [[name, server]] = Object.entries(section);
  if (one.format !== format || one.section !== name) throw new Error(one.client + ": " + one.format + ", " + one.section);
  server.parse(one.server);
  if (format === "json") {
    const inputs = one.client === "vscode" ? { inputs: z.array(vscodeInput).optional() } : {};
    const whole = z.strictObject({ [name]: z.record(z.string().regex(/^[A-Za-z0-9_-]+$/), server), ...inputs });
    whole.parse(JSON.parse(one.configuration));
  }
  checked += 1;
}
console.log(checked);
