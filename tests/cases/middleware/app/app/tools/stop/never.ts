export default async (_, ctx) => { await ctx.db('main').query("INSERT INTO hits VALUES ('next')"); };
export async function after(_, ctx) { await ctx.db('main').query("INSERT INTO hits VALUES ('after of the next')"); }
