export default async (_call: unknown, ctx: any) => {
  await ctx.db("main").query("INSERT INTO hits (who) VALUES ('entry after')");
};
