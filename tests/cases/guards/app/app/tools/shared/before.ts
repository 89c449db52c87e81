export default async (_call: unknown, ctx: any) => {
  await ctx.db("main").query("INSERT INTO hits (who) VALUES ('entry before')");
};
export async function after({ error }: any, ctx: any) {
  await ctx.db("main").query("INSERT INTO hits (who) VALUES (?1)", [`after: ${error ? error.code : "well"}`]);
}
