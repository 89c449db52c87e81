import { toolError } from "millrace";

// The token says who it is: `ada` and `orders:read docs:read` are `ada/orders:read,docs:read`.
export default function ({ headers, tool }) {
  const [subject, scopes] = (headers.authorization ?? "").replace("Bearer ", "").split("/");
  if (scopes === undefined) throw new Error("no token");
  return { subject, scopes: scopes.split(",").filter((scope) => scope !== ""), about: tool };
}

/** Says which scope is missing, which nobody else knows. */
export function dynamic({ headers }) {
  if (headers.authorization === undefined) throw new Error("no token");
  const details = headers.authorization.includes("role") ? {} : { scope: "invoices:pay invoices:read" };
  throw toolError("FORBIDDEN", { message: "Not this invoice.", details });
}
