export default ({ inputs }, ctx) => {
  const secret = ctx.env.SCRIPT_SECRET;
  console.log(inputs.text);
  console.error("half of it:", secret.slice(0, 14));
  ctx.log.info(`log ${secret}`, { secret });
  ctx.progress(1, 2, `progress ${secret}`);
  return "said";
};
