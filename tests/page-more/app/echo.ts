export default ({ inputs }) => ({ got: inputs });
