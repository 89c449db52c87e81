import type { Context } from "millrace";

export default async ({ inputs }: { inputs: { id: string } }, ctx: Context) => {
  const db = ctx.db("main");
  const name = ctx.env.SHOWN_ORDERS;
  const added = await db.query(`INSERT INTO "${name}" VALUE {'id': ?, 'amount': ?, 'deep': ?}`, [inputs.id, 7.25, { a: [1, { b: null }] }]);
  const rows = await db.query(`SELECT * FROM "${name}" WHERE "id" = ?`, [inputs.id]);
  const removed = await db.query(`DELETE FROM "${name}" WHERE "id" = ?`, [inputs.id]);
  const refused: string[] = [];
  for (const statement of [`SELECT * FROM "${name}"; SELECT ?`, "CREATE TABLE t", `SELECT * FROM "${name}" WHERE "id" = ? AND "a" = ?`, "SELECT * FROM \"nowhere\" WHERE \"id\" = ?"]) {
    try {
      await db.query(statement, [inputs.id]);
    } catch (error) {
      refused.push(String((error as Error).message));
    }
  }
  try {
    await ctx.db("reader").query(`DELETE FROM "${name}" WHERE "id" = ?`, [inputs.id]);
  } catch (error) {
    refused.push(String((error as Error).message));
  }
  return { added, rows, removed, refused };
};
