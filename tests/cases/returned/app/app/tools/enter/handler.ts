export default (_: any, ctx: any) => ctx.auth ?? "nobody";
