export default function (_: unknown, ctx) {
  ctx.progress(1, 2);
  throw new Error("half way");
}
