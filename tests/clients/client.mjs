// `node client.mjs SERVER MODE`: what a user of the official TypeScript clients does, and prints what came back as JSON.
// SERVER: an address, or JSON with the command to start, its arguments and variables.
// MODE: sdk (@modelcontextprotocol/sdk 1.x), legacy, auto or 2026-07-28 (@modelcontextprotocol/client 2.x).
const [server, mode] = process.argv.slice(2);
const isUrl = server.startsWith("http");
const info = { name: "millrace-tests", version: "1.0.0" };

let client, transport;
if (mode === "sdk") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  client = new Client(info);
  transport = isUrl ? new StreamableHTTPClientTransport(new URL(server)) : new StdioClientTransport(JSON.parse(server));
} else {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const negotiation = mode === "legacy" ? {} : { versionNegotiation: { mode: mode === "auto" ? "auto" : { pin: mode } } };
  client = new Client(info, negotiation);
  transport = isUrl ? new StreamableHTTPClientTransport(new URL(server)) : new StdioClientTransport(JSON.parse(server));
}

const outcome = async (promise) => {
  try {
    return await promise;
  } catch (error) {
    return { thrown: { code: error.code, message: error.message } };
  }
};
const text = (result) => result.content?.map((block) => block.text);

await client.connect(transport);
const { tools } = await client.listTools();
const user = await outcome(client.callTool({ name: "get-user", arguments: { id: 42 } }));
const sum = await outcome(client.callTool({ name: "add", arguments: { a: 2, b: 40 } }));
const invalid = await outcome(client.callTool({ name: "get-user", arguments: { id: "x" } }));
const unknown = await outcome(client.callTool({ name: "no-such-tool", arguments: {} }));
const { prompts } = await client.listPrompts();
const prompt = await outcome(client.getPrompt({ name: "review-order", arguments: { order_id: "7" } }));
const { resources } = await client.listResources();
const resource = await outcome(client.readResource({ uri: "shop://guide" }));
await client.close();

console.log(
  JSON.stringify({
    server: client.getServerVersion()?.name,
    tools: tools.map((tool) => tool.name),
    user: text(user),
    sum: text(sum),
    invalid: { isError: invalid.isError, text: text(invalid) },
    unknown: unknown.thrown?.code,
    prompts: prompts.map((entry) => entry.name),
    prompt: prompt.messages?.[0].content.text,
    resources: resources.map((entry) => entry.uri),
    resource: resource.contents?.[0].text.split("\n")[0],
  }),
);
