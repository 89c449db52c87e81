export default ({ inputs }) => ({ [inputs.text]: [inputs.text, { deep: inputs.text }] });
