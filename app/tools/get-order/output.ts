// The statement gives one row an item; the caller gets one order.
import { euros } from "../../lib/money";

interface Row {
  id: number;
  status: string;
  ordered_on: string;
  product: string;
  quantity: number;
  price_cents: number;
}

export default function ({ results }: { results: Row[] }) {
  const first = results[0];
  if (!first) return {};
  const items = results.map(({ product, quantity, price_cents }) => ({ product, quantity, price_cents }));
  const total_cents = items.reduce((sum, item) => sum + item.quantity * item.price_cents, 0);
  return { id: first.id, status: first.status, ordered_on: first.ordered_on, items, total_cents, total: euros(total_cents) };
}
