export default ({ inputs }) => "x".repeat(inputs.length);
