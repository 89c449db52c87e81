export default ({ inputs }: { inputs: unknown }) => inputs;
