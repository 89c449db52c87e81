export default async function ({ inputs }, ctx) {
  const rows = await ctx[["d", "b"].join("")]("main").query(inputs.statement);
  if (inputs.fail) throw new Error("after the change");
  return rows.length;
}
