export default function (_payload, ctx) {
  ctx.log.info("a line");
  return "Logged.";
}
