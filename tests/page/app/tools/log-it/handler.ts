export default async function (payload, ctx) {
  ctx.log.info("x");
  await ctx.progress(1, 2, "halfway");
  return { done: true };
}
