export default function (_: unknown, ctx) {
  for (let step = 1; step <= 5000; step++) ctx.progress(step);
  return "said a lot";
}
