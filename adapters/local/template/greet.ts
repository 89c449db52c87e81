type Call = { inputs: { name: string } };

export default function greet({ inputs }: Call) {
  return { greeting: `Hello, ${inputs.name}!`, letters: inputs.name.length };
}
