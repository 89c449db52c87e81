export default function ({ inputs, tool }) {
  return { tool, inputs };
}
