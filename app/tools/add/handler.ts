export default function ({ inputs }: { inputs: { a: number; b: number } }) {
  return { sum: inputs.a + inputs.b };
}
