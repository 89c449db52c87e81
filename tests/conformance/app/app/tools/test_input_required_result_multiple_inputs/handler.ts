import { listRoots, requireInput, sample } from "millrace";
import { field, prompt } from "../../lib/ask";

export default function () {
  const { user_name, greeting, client_roots } = requireInput({
    user_name: field("What is your name?", "name"),
    greeting: sample(prompt("Generate a greeting", 50)),
    client_roots: listRoots(),
  });
  return `${greeting.content.text} ${user_name.content?.name} (${client_roots.roots.length} roots)`;
}
