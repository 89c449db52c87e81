export default ({ inputs }) => ({ cancelled: inputs.id });
