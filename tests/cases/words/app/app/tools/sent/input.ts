export default (_: unknown, ctx: any) => ({ n: `a ${ctx.env.SHOWN_WORD}` });
