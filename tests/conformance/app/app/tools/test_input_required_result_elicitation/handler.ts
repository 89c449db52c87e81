import { requireInput } from "millrace";
import { field } from "../../lib/ask";

export default function () {
  const { user_name } = requireInput({ user_name: field("What is your name?", "name") });
  return `Hello, ${user_name.content?.name ?? "stranger"}!`;
}
