export default (_: unknown, ctx) => { throw new Error(`token ${ctx.auth.claims.token}, key ${ctx.auth.claims.key}`); };
