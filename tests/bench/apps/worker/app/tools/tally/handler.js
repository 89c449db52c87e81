export default function ({ inputs }) {
  const counts = {};
  let cents = 0;
  for (const { name, price, quantity } of inputs.items) {
    cents += Math.round(price * 100) * quantity;
    counts[name] = (counts[name] ?? 0) + quantity;
  }
  const [most] = Object.entries(counts).sort((a, b) => b[1] - a[1])[0];
  return { total: cents / 100, most, names: Object.keys(counts).map((name) => name.toUpperCase()) };
}
