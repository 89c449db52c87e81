const cities = ["Lisbon", "Porto"];

export default function ({ inputs }) {
  const orders = Array.from({ length: 150 }, (_, index) => ({ id: index + 1, city: cities[index % 2] }));
  return orders.filter((order) => !inputs.city || order.city === inputs.city);
}
