export default ({ inputs }) => ({ text: inputs.text, raw: inputs.text, list: [{ raw: inputs.text, text: inputs.text }] });
