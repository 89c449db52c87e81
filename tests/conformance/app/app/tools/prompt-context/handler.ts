import { requireInput } from "millrace";
import { field } from "../../lib/ask";

export default function () {
  const { user_context } = requireInput({ user_context: field("What context should the prompt use?", "context") });
  return `Use this context: ${user_context.content?.context ?? "none"}.`;
}
