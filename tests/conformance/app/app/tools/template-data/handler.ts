export default function ({ inputs }) {
  return { id: inputs.id, templateTest: true, data: `Data for ID: ${inputs.id}` };
}
