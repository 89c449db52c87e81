export default function ({ inputs }) {
  return inputs.region ?? "none";
}
