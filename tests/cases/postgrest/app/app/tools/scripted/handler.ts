export default async ({ inputs }, ctx) => {
  const found = await ctx.db("main").query('{"from": "authors", "where": {"name": {"eq": "$1"}}}', [inputs.name]);
  return { found };
};
