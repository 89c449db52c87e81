export default async function (_: unknown, ctx) {
  console.log("for the operator alone", ctx.env.API_TOKEN);
  ctx.log.debug("looking", { at: 1 });
  ctx.log.info("a line\nand \"another\"");
  await new Promise((go) => setTimeout(go, 5));
  ctx.log.warn("ü");
  ctx.log.error(new Error("no more"));
  return { logged: true };
}
