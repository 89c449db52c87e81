export default function ({ results: [{ id }] }) {
  if (id === 4) throw new Error("after the change");
  return id === 3 ? "x".repeat(2000) : { id };
}
