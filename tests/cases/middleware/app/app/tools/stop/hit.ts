export default async (_, ctx) => { await ctx.db('main').query("INSERT INTO hits VALUES ('handler')"); return 'hit'; };
