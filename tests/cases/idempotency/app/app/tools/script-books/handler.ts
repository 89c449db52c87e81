export default async function ({ inputs }, ctx) {
  await ctx.db("main").query("INSERT INTO bookings (order_id, amount) VALUES (?1, ?2)", [inputs.order_id, inputs.amount]);
  const [row] = await ctx.db("main").query("SELECT count(*) AS n FROM bookings WHERE order_id = ?1", [inputs.order_id]);
  return { booked: inputs.amount, n: row.n, exact: 1.5, none: null };
}
