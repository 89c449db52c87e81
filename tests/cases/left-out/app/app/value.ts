export default ({ inputs }: any) => inputs.value;
