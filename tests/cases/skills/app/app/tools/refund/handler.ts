export default ({ inputs }) => ({ refunded: inputs.id });
