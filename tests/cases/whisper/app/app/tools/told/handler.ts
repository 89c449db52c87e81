export default async function ({ inputs }, ctx) {
  ctx.progress(1, 2, inputs.text);
  ctx.log.info(inputs.text);
  return "done";
}
