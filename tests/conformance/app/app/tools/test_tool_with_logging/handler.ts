export default function (_payload, ctx) {
  ctx.log.info("Tool execution started");
  ctx.log.info("Tool processing data");
  ctx.log.info("Tool execution completed");
  return "Logged three lines.";
}
