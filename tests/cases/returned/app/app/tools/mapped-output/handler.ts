export default ({ inputs }: any) => inputs.kind;
