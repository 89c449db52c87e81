import { toolError } from "millrace";

export default async function ({ inputs }, ctx) {
  await ctx.db("main").query("UPDATE orders SET state = ?1 WHERE id = 2", [inputs.state]);
  return toolError("TOO_LATE", { message: "The order is late.", severity: inputs.severity });
}
