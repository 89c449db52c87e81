// `node client.mjs SERVER PACKAGE`: what a user of an earlier TypeScript client does, and prints what came back as JSON.
// SERVER: an address, or JSON with the command to start, its arguments and variables.
// PACKAGE: sdk-1.17 (revision 2025-06-18) or sdk-1.12 (2025-03-26).
const [server, sdk] = process.argv.slice(2);
const { Client } = await import(`${sdk}/client/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);

const client = new Client({ name: "millrace-tests", version: "1.0.0" });
const isUrl = server.startsWith("http");
const transport = isUrl ? new StreamableHTTPClientTransport(new URL(server)) : new StdioClientTransport(JSON.parse(server));
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
const missing = await outcome(client.readResource({ uri: "shop://nothing" }));
await client.close();

console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    user: text(user),
    sum: text(sum),
    invalid: { isError: invalid.isError, text: text(invalid) },
    unknown: unknown.thrown?.code,
    prompts: prompts.map((entry) => entry.name),
    prompt: prompt.messages?.[0].content.text,
    resources: resources.map((entry) => entry.uri),
    resource: resource.contents?.[0].text.split("\n")[0],
    missing: missing.thrown?.code,
  }),
);
