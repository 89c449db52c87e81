export default ({ inputs }) => inputs.text;
