import type { Context } from "millrace";

export default async ({ inputs }: { inputs: { q: string } }, ctx: Context) => {
  const found = await ctx.db("main").query("SELECT ? AS text, ? AS number, ? AS truth, ? AS float_, ? AS nothing", [inputs.q, 7, true, 1.5, null]);
  const listed = await ctx.db("main").query("SELECT v FROM JSON_TABLE(?, '$[*]' COLUMNS (v JSON PATH '$')) AS t", [[{ a: inputs.q }, 2]]);
  const changed = await ctx.db("main").query("UPDATE people SET mood = mood WHERE id = ?", [1]);
  const refused: string[] = [];
  for (const statement of ["INSERT INTO people (id, email, age) VALUES (7, ?, 1)", "SET @a = ?", "SELECT ? /*! + 1 */", "SELECT 1; SELECT ?"]) {
    try {
      await ctx.db("main").query(statement, [inputs.q]);
    } catch (error) {
      refused.push(String((error as Error).message));
    }
  }
  try {
    await ctx.db("reader").query("DELETE FROM people", []);
  } catch (error) {
    refused.push(String((error as Error).message));
  }
  return { found, listed, changed, refused };
};
