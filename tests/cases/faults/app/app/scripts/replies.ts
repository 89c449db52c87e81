import { success, error, required, toolError } from "millrace";
export function good() { return success({ a: 1 }); }
export function bad() { return error("It did not work."); }
export function missing() { return required("city"); }
export function full() {
  return toolError("NOT_FOUND", {
    message: "No invoice <9>.", suggestion: "List them first & try again.", available_actions: ["throws"], details: { id: "9", 'a"b': "<c>" },
    severity: "critical", retry_after: 30,
  });
}
export function warning() { return toolError("STALE", { severity: "warning", message: "Old data." }); }
export function lookalike() { return { code: "NOT_FOUND", isError: true, message: "plain data" }; }
export function thrown() { throw toolError("GONE", { message: "Thrown reply." }); }
