// `node authorization-server.mjs FORMAT AUDIENCE`: an OpenID provider that lets everybody in as `ada` and grants every scope that a client asks for.
// FORMAT: of its access tokens, `opaque` or `jwt`. AUDIENCE: whom they are for; without it, the resource that was asked for. Prints its address once it listens, and ends with its
// standard input.
import { createServer } from "node:http";
import { Provider, errors } from "oidc-provider";

const [format, audienceOfAll] = process.argv.slice(2);
const scopes = "notes:read notes:write notes:publish";
const server = createServer();
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  // Other clients register themselves, with the scopes of their first request: this server gives them no others later.
  clients: [
    { client_id: "resource", client_secret: "the-secret-of-the-resource", redirect_uris: [], response_types: [], grant_types: [] },
    {
      client_id: "desktop",
      token_endpoint_auth_method: "none",
      redirect_uris: ["http://127.0.0.1:9/callback"],
      response_types: ["code"],
      grant_types: ["authorization_code"],
    },
  ],
  cookies: { keys: ["a key of this run"] },
  scopes: scopes.split(" "),
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo(_, indicator) {
        // A token for the issuer itself is one that the app must not accept.
        if (!/^http:\/\/127\.0\.0\.1:\d+\/mcp$/.test(indicator) && indicator !== issuer) throw new errors.InvalidTarget();
        return { scope: scopes, audience: audienceOfAll ?? indicator, accessTokenFormat: format, accessTokenTTL: 600, jwt: { sign: { alg: "RS256" } } };
      },
    },
  },
  interactions: { url: (_, interaction) => `${issuer}/interaction/${interaction.uid}` },
  issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
  rotateRefreshToken: true,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
});

// Clients that keep no cookies are known by the interaction in the path: what an answer set that led there comes with it.
const cookies = new Map();
function remember(request, response) {
  const [, own] = /^\/(?:interaction|auth)\/([\w-]+)$/.exec(request.url) ?? [];
  request.headers.cookie ??= cookies.get(own);
  response.on("finish", () => {
    const [, next] = /\/(?:interaction|auth)\/([\w-]+)$/.exec(response.getHeader("location") ?? "") ?? [];
    const jar = new Map((request.headers.cookie ?? "").split("; ").filter(Boolean).map((cookie) => cookie.split("=", 2)));
    for (const line of [response.getHeader("set-cookie") ?? []].flat()) jar.set(...line.split(";")[0].split("=", 2));
    if (next) cookies.set(next, [...jar].map((cookie) => cookie.join("=")).join("; "));
  });
}

const handler = provider.callback();
server.on("request", async (request, response) => {
  remember(request, response);
  // A client that asks for no scope gets all of them.
  if (request.url.startsWith("/auth?") && !request.url.includes("&scope=")) request.url += `&scope=${encodeURIComponent(scopes)}`;
  if (!request.url.startsWith("/interaction/")) return handler(request, response);
  try {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") return await provider.interactionFinished(request, response, { login: { accountId: "ada" } });
    const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope ?? "");
    grant.addResourceScope(params.resource, params.scope ?? "");
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

console.log(issuer);
process.stdin.resume().on("end", () => process.exit());
