// The token says who it is: `ada` and `orders:read docs:read` are `ada/orders:read,docs:read`.
export default function ({ headers }) {
  if (headers.authorization === undefined) return; // nobody
  const [subject, scopes] = headers.authorization.replace("Bearer ", "").split("/");
  if (scopes === undefined) throw new Error("not a token");
  return { subject, scopes: scopes.split(",").filter((scope) => scope !== "") };
}
