export default async function (_: unknown, ctx) {
  for (let step = 1; step <= 3; step++) {
    ctx.progress(step, 3, `step ${step}`);
    await new Promise((go) => setTimeout(go, 5));
  }
  ctx.progress(2, 3, "not again");
  ctx.progress(3.5);
  return "done";
}
