import { anonymous, error, response, toolError } from "millrace";
import { values } from "../lib/values";

const own: Record<string, () => unknown> = {
  nothing: () => undefined,
  null: () => null,
  unknown: () => ({ subject: undefined }),
  empty: () => ({}),
  scopes: () => ({ scopes: ["read"] }),
  claims: () => ({ claims: { user: null } }),
  claim: () => ({ tenant: "a" }),
  "only-claims": () => ({ claims: { tenant: "a" }, level: 1 }),
  failed: () => ({ error: "The token has expired." }),
  status: () => ({ status: 401, statusText: "Unauthorized" }),
  "not-ok": () => ({ ok: false, subject: null, claims: {} }),
  sub: () => ({ sub: "u", iss: "https://login.example.com" }),
  anonymous: () => anonymous(),
  scoped: () => anonymous({ scopes: ["read"] }),
  named: () => (anonymous as any)({ subject: "forged" }),
  built: () => response({ subject: "forged" }).build(),
  unbuilt: () => response({ subject: "forged" }),
  forbidden: () => { throw toolError("FORBIDDEN", { message: "Not yours.", details: { scope: "orders" } }); },
  stale: () => { throw error("The token is stale."); },
  thrown: () => { throw new Error("never told"); },
  infinite: () => ({ subject: "u", claims: { level: Infinity } }),
};

export default ({ headers }: any) => (own[headers["x-as"]] ?? values[headers["x-as"]])();
export const next = ({ headers }: any) => (headers["x-next"] ? { subject: headers["x-next"] } : null);
