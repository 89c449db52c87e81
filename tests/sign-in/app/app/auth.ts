import { error, type AuthPlugin } from "millrace";

/** Asks the server that issued the token what it says. */
const auth: AuthPlugin = async ({ headers, policy }) => {
  const token = headers.authorization?.replace(/^Bearer /, "");
  if (!token) return error("Sign in first.");
  const answer = await fetch(`${policy.issuer}/token/introspection`, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      authorization: `Basic ${btoa("resource:the-secret-of-the-resource")}`,
    },
    body: `token=${encodeURIComponent(token)}`,
  });
  const { active, sub, scope, aud } = await answer.json();
  if (!active || aud !== `http://${headers.host}/mcp`) return error("The token is not valid here.");
  return { subject: sub, scopes: scope };
};
export default auth;
