export default ({ inputs: { text } }) => ({ [text]: { [text]: [text] } });
