// Callers mix the days up; the report does not care.
export default function ({ inputs }: { inputs: { from?: string; to?: string } }) {
  const { from, to } = inputs;
  return typeof from === "string" && typeof to === "string" && from > to ? { ...inputs, from: to, to: from } : inputs;
}
