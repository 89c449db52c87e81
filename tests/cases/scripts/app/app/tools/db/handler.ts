export default async ({ inputs }: any, ctx: any) => {
  const rows = await ctx.db("main").query("SELECT id, s FROM t WHERE s = ?1", [inputs.s]);
  let unknown = "";
  try { await ctx.db(`no${"pe"}`).query("SELECT 1", []); } catch (error) { unknown = (error as Error).message; }
  let wrong = "";
  try { await ctx.db("main").query("SELECT nope FROM t", []); } catch (error) { wrong = (error as Error).message; }
  return { rows, unknown, wrong };
};
