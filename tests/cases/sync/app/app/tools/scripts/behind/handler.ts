export default async function ({ inputs }, ctx) {
  await ctx.db("main").query(inputs.statement);
  return "done";
}
