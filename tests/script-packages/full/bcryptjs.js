import bcrypt from "bcryptjs";

export default async function () {
  const known = "$2b$04$abcdefghijklmnopqrstuu9sBQwsYmLkHBFFMP9DZ5yvYcQXy5D/q";
  const hash = bcrypt.hashSync("pässword", "$2b$04$abcdefghijklmnopqrstuu");
  return [hash, bcrypt.getRounds(known), bcrypt.getSalt(hash), bcrypt.truncates("x".repeat(73)), bcrypt.genSaltSync(4).length];
}
