import { elicit, requireInput, toolError } from "millrace";

export default function () {
  const { user_name } = requireInput({
    user_name: elicit("What is your name?", { type: "object", properties: { name: { type: "string" } }, required: ["name"] }),
  });
  if (user_name.action !== "accept") return toolError("NO_NAME", { message: `The user said ${user_name.action}.` });
  return `Hello, ${user_name.content.name}!`;
}
