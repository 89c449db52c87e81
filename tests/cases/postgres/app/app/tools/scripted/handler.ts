import type { Context } from "millrace";

export default async ({ inputs }: { inputs: { q: string } }, ctx: Context) => {
  const found = await ctx.db("main").query("SELECT $1 AS text, $2 AS number, $3 AS truth, $4::float8 AS float, $5::text AS nothing", [inputs.q, 7, true, 1.5, null]);
  const listed = await ctx.db("main").query("SELECT v FROM jsonb_array_elements($1) v", [JSON.stringify([{ a: inputs.q }, 2])]);
  const chosen = await ctx.db("main").query("SELECT email FROM people WHERE id = ANY($1) AND tags && $2 AND profile @> $3", [[1, 3], ["maths"], { city: "London" }]);
  const changed = await ctx.db("main").query("UPDATE people SET mood = mood WHERE id = $1", [1]);
  let refused = "";
  try {
    await ctx.db("main").query("SELECT $1::int", [inputs.q]);
  } catch (error) {
    refused = String((error as Error).message);
  }
  let written = "";
  try {
    await ctx.db("reader").query("DELETE FROM people", []);
  } catch (error) {
    written = String((error as Error).message);
  }
  return { found, listed, chosen, changed, refused, written };
};
