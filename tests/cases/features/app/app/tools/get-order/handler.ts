import { toolError } from "millrace";

export default function ({ inputs }) {
  if (inputs.id > 99) return toolError("NOT_FOUND", { message: `No order ${inputs.id}.` });
  if (inputs.id === 13) throw new Error("out of luck");
  return { id: inputs.id, note: inputs.note ?? null };
}
