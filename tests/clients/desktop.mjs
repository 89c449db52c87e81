// What a client does with a desktop bundle, by the code that its maker published: validates and unpacks it, fills in what the user gave, starts the
// server, and calls tools. Then an update: the folder of the extension is removed and unpacked anew.
// Usage: node desktop.mjs FILE FOLDER HOME CLIENTS, where CLIENTS is a folder with the SDK. Prints JSON.
import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { getMcpConfigForManifest, unpackExtension, validateManifest } from "@anthropic-ai/mcpb";

const [file, folder, home, clients] = process.argv.slice(2);
const sdk = (path) => import(pathToFileURL(join(clients, "node_modules/@modelcontextprotocol/sdk/dist/esm/client", path)).href);
const [{ Client }, { StdioClientTransport }] = [await sdk("index.js"), await sdk("stdio.js")];
const said = [];
console.log = (...words) => said.push(words.join(" "));

async function install() {
  rmSync(folder, { recursive: true, force: true });
  assert.ok(await unpackExtension({ mcpbPath: file, outputDir: folder, silent: true }), said.join("\n"));
  assert.ok(validateManifest(join(folder, "manifest.json")), said.join("\n"));
  return JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
}

const configuration = (manifest, userConfig) =>
  getMcpConfigForManifest({ manifest, extensionPath: folder, systemDirs: { HOME: home }, userConfig, pathSeparator: "/" });

async function use(manifest, calls) {
  const { command, args, env } = await configuration(manifest, { OTHER_DB: "other.db" });
  // Somewhere, as a client that was started by the system.
  const transport = new StdioClientTransport({ command, args, env: { HOME: home, PATH: "/usr/bin:/bin", ...env }, cwd: "/", stderr: "pipe" });
  let log = "";
  transport.stderr.on("data", (chunk) => (log += chunk));
  const client = new Client({ name: "desktop", version: "1" });
  try {
    await client.connect(transport);
    const tools = (await client.listTools()).tools.map((tool) => tool.name);
    const answers = [];
    for (const [name, input] of calls) answers.push((await client.callTool({ name, arguments: input })).content.map((one) => one.text).join(""));
    return { command, args, env, tools, answers };
  } catch (error) {
    throw new Error(error.message + "\n" + log);
  } finally {
    await client.close();
  }
}

const manifest = await install();
const missing = (await configuration(manifest, {})) === undefined;
const first = await use(manifest, [
  ["add-note", { topic: "desk", text: "kept by the user" }],
  ["known", {}],
]);
const updated = await use(await install(), [
  ["find-notes", { q: "kept" }],
  ["known", {}],
]);
process.stdout.write(JSON.stringify({ manifest, missing, first, updated }));
