export default ({ inputs }: any) => inputs.text;
