import { toolError } from "millrace";
export default async function ({ inputs }, ctx) {
  if (inputs.amount > 5) return toolError("TOO_MUCH", { message: "At most 5." });
  await ctx.db("main").query("SELECT 1", []);
  await ctx.db("main").query("INSERT INTO bookings (order_id, amount) VALUES (?1, ?2)", [inputs.order_id, inputs.amount]);
  return "booked";
}
