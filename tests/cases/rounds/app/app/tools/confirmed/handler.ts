export default ({ inputs }) => `order ${inputs.id} is cancelled`;
