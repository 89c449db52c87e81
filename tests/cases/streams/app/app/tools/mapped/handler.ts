export default function (_: unknown, ctx) {
  ctx.progress(2, 2, "handled");
  return "both";
}
