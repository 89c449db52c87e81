export default ({ inputs }: any) => inputs;
