export default function ({ inputs }, ctx) {
  ctx.progress(1, 2, "mapped");
  return inputs;
}
