export default ({ inputs }) => {
  throw new Error(inputs.text);
};
