import jwt from "jsonwebtoken";

export default function () {
  const token = jwt.sign({ a: "é", iat: 1700000000 }, "secret", { subject: "u" });
  const caught = run => { try { run(); } catch (error) { return [error.name, error.message]; } };
  return [token, jwt.verify(token, "secret"), jwt.decode(token, { complete: true }).header, caught(() => jwt.verify(token, "other")), caught(() => jwt.verify(token, "secret", { maxAge: "1h" })), caught(() => jwt.verify("x.y", "secret")), jwt.sign({ iat: 1 }, "s", { algorithm: "HS512" }).length];
}
