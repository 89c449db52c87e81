import { error, required, toolError } from "millrace";

interface Payload { headers: Record<string, string>; policy: unknown }

const wants: Record<string, () => unknown> = {
  null: () => null,
  error: () => error("The token is stale."),
  needs: () => required("x-team"),
  code: () => toolError("STALE", { message: "The token is stale.", suggestion: "Sign in again.", severity: "warning" }),
  no: () => toolError("FORBIDDEN", { message: "Only managers may do this.", details: { scope: "orders:write orders:read" } }),
  thrown: () => { throw error("The token was thrown away."); },
};

export default ({ headers }: Payload) => wants[headers["x-want"]]();

export const nested = ({ headers, policy }: Payload) =>
  headers["x-key"] === (policy as any).tenants[1].keys[0] ? { subject: JSON.stringify(policy).length > 0 ? "known" : "" } : error("Unknown key.");
