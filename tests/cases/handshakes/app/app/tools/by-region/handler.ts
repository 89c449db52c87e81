export default ({ inputs }: any) => inputs.region;
