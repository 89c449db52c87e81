// Gives what it is given, so that a case says what the data is.
export default ({ inputs }: { inputs: { value: unknown } }) => inputs.value;
