import { response } from "millrace";
export default async function ({ inputs }, ctx) {
  await ctx.db("main").query("INSERT INTO bookings (order_id, amount) VALUES (?1, ?2)", [inputs.order_id, inputs.amount]);
  return response({ booked: inputs.amount }).text("Booked.").meta({ "shop/order": inputs.order_id }).build();
}
