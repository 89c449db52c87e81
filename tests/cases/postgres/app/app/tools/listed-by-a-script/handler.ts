import type { Context } from "millrace";

export default async (_: unknown, ctx: Context) => {
  const db = ctx.db("main");
  const tagged = await db.query("SELECT email FROM people WHERE tags @> $1 ORDER BY id", [["history"]]);
  const keyed = await db.query("SELECT email FROM people WHERE profile ?| $1", [["city", "none"]]);
  const equal = await db.query("SELECT email FROM people WHERE profile -> 'langs' = $1", [["en"]]);
  return { tagged, keyed, equal };
};
