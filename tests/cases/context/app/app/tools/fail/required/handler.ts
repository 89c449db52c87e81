export default async (_, ctx) => { await ctx.db('main').query("INSERT INTO hits VALUES ('x')"); return 'hit'; };
