// `node sign-in.mjs SERVER CLIENT [ID]`: a client that signs in at its first 401 and once more at a 403, and prints what it saw as JSON.
// CLIENT: sdk (@modelcontextprotocol/sdk 1.x) or client (@modelcontextprotocol/client 2.x). ID: of a client that the server knows; without it,
// the client registers itself, and does not step up.
import { browse, redirectUrl } from "./browse.mjs";

const [server, kind, id] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport } =
  kind === "sdk"
    ? { ...(await import("@modelcontextprotocol/sdk/client/index.js")), ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")) }
    : await import("@modelcontextprotocol/client");

const asked = [];
let saved, verifier, discovered, address;
let information = id && { client_id: id };
const provider = {
  redirectUrl,
  clientMetadata: {
    client_name: "millrace-tests",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => information,
  saveClientInformation: (value) => void (information = value),
  tokens: () => saved,
  saveTokens: (value) => void (saved = value),
  codeVerifier: () => verifier,
  saveCodeVerifier: (value) => void (verifier = value),
  discoveryState: () => discovered,
  saveDiscoveryState: (value) => void (discovered = value),
  redirectToAuthorization(url) {
    address = url;
    asked.push({ scope: url.searchParams.get("scope"), resource: url.searchParams.get("resource") });
  },
};

// A client that has been connected, or not yet.
let current;
async function call(name) {
  for (let round = 0; ; round += 1) {
    try {
      if (!current) {
        const client = new Client({ name: "millrace-tests", version: "1.0.0" });
        current = { client, transport: new StreamableHTTPClientTransport(new URL(server), { authProvider: provider }) };
        await client.connect(current.transport);
      }
      const result = await current.client.callTool({ name, arguments: {} });
      return result.content[0].text;
    } catch (error) {
      if (!address || round === 3) throw error;
      const answer = await browse(address);
      address = undefined;
      await current.transport.finishAuth(kind === "sdk" ? answer.get("code") : answer);
      await current.client.close();
      current = undefined;
    }
  }
}

const read = await call("notes-read");
const published = id && (await call("notes-publish"));
const again = await call("notes-read");
await current.client.close();
console.log(JSON.stringify({ read, published, again, asked }));
