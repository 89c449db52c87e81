import { requireInput } from "millrace";
import { field } from "../../lib/ask";

export default function () {
  const { confirm } = requireInput({ confirm: field("Please confirm", "ok", "boolean") });
  return confirm.action;
}
