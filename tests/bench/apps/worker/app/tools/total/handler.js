export default function ({ inputs }) {
  const counts = new Map();
  let cents = 0;
  for (const { name, price, quantity } of inputs.items) {
    cents += Math.round(price * 100) * quantity;
    counts.set(name, (counts.get(name) ?? 0) + quantity);
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1])[0];
  return { total: cents / 100, most, names: [...counts.keys()].map((name) => name.toUpperCase()) };
}
