export default async function ({ inputs }, ctx) {
  await ctx.db("main").query("INSERT INTO bookings (order_id, amount) VALUES (?1, ?2)", [inputs.order_id, inputs.amount]);
  return "booked";
}
