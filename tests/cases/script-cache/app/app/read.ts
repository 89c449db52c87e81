import { error, response } from "millrace";

const read = async (ctx: any, id: number) => (await ctx.db("main").query("SELECT v FROM n WHERE id = ?1", [id]))[0].v;

export default async ({ inputs }: any, ctx: any) => ({ v: await read(ctx, inputs.id), big: 9007199254740993n });
export const blocks = async (_: unknown, ctx: any) => response({ v: await read(ctx, 1) }).text("read").hint("It is a number.");
export const fails = async ({ inputs }: any, ctx: any) => {
  const v = await read(ctx, inputs.id);
  return v % 2 === 0 ? error("It is even.") : { v };
};
export const writes = async (_: unknown, ctx: any) => {
  await ctx.db("main").query("UPDATE n SET v = v + 1 WHERE id = 1");
  return read(ctx, 1);
};
