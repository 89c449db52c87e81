export default function (_payload, ctx) {
  for (const done of [0, 50, 100]) ctx.progress(done, 100);
  return "Done.";
}
