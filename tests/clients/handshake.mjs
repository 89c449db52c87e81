// `node handshake.mjs SERVER ID`: a client that decides at the handshake whether it has to sign in, as hosted connectors do, and prints what it saw as
// JSON. It looks at no other 401: where the handshake is answered, it never signs in. ID: of a client that the authorization server knows.
import { createHash, randomBytes } from "node:crypto";

import { browse, redirectUrl } from "./browse.mjs";

const [server, id] = process.argv.slice(2);
let token;

async function ask(method, params) {
  const response = await fetch(server, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return { status: response.status, challenge: response.headers.get("www-authenticate"), body: await response.json() };
}

const handshake = () =>
  ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "millrace-tests", version: "1.0.0" } });

async function signIn(challenge) {
  const parameter = (name) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1];
  const resource = await (await fetch(parameter("resource_metadata"))).json();
  const [issuer] = resource.authorization_servers;
  const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  const verifier = randomBytes(32).toString("base64url");
  const address = new URL(metadata.authorization_endpoint);
  const asked = {
    response_type: "code",
    client_id: id,
    redirect_uri: redirectUrl,
    scope: parameter("scope"),
    resource: resource.resource,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: (await browse(address)).get("code"),
    client_id: id,
    redirect_uri: redirectUrl,
    resource: resource.resource,
    code_verifier: verifier,
  });
  token = (await (await fetch(metadata.token_endpoint, { method: "POST", body })).json()).access_token;
  return asked.scope;
}

const first = await handshake();
const scope = first.status === 401 ? await signIn(first.challenge) : null;
const second = await handshake();
const answer = await ask("tools/call", { name: "notes-publish", arguments: {} });
token = `${token}x`;
const refused = await handshake();
console.log(
  JSON.stringify({
    first: first.status,
    scope,
    second: second.status,
    server: second.body.result?.serverInfo?.name,
    published: answer.body.result?.content?.[0]?.text,
    refused: [refused.status, / error="invalid_token"/.test(refused.challenge)],
  }),
);
