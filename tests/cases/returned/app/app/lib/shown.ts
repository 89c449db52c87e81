export default (_: any, ctx: any) => Object.keys(ctx);
