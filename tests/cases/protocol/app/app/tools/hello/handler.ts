export default ({ inputs }: any) => `Hello, ${inputs.name}!`;
