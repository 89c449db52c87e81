import { toolError } from "millrace";

export default function () {
  return toolError("NOT_OPEN", { message: "Not now.", severity: "warning" });
}
