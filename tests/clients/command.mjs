// Starts a server as a client's configuration says, lists its tools and calls one. Usage: node command.mjs SERVER TOOL, where SERVER is
// JSON with `command`, `args` and `env`. Prints JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [server, name] = process.argv.slice(2);
const transport = new StdioClientTransport({ ...JSON.parse(server), cwd: "/", stderr: "pipe" });
let log = "";
transport.stderr.on("data", (chunk) => (log += chunk));
const client = new Client({ name: "command", version: "1" });
try {
  await client.connect(transport);
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  const result = await client.callTool({ name, arguments: {} }).catch((error) => ({ isError: true, code: error.code, message: error.message }));
  process.stdout.write(JSON.stringify({ tools, result }));
} catch (error) {
  console.error(error.message + "\n" + log);
  process.exitCode = 1;
} finally {
  await client.close();
}
