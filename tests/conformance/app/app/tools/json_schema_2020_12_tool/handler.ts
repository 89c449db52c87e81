export default function ({ inputs }) {
  return inputs;
}
