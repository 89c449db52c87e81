export default ({ inputs }: { inputs: { id: string } }) => ({ paid: inputs.id });
