import { requireInput, sample } from "millrace";
import { field, prompt } from "../../lib/ask";

export default function (_payload, ctx) {
  const can = ctx.request.capabilities;
  const requests = {};
  if (can.includes("elicitation")) requests.user_name = field("What is your name?", "name");
  if (can.includes("sampling")) requests.greeting = sample(prompt("Generate a greeting", 50));
  if (Object.keys(requests).length === 0) return "There is nobody to ask.";
  return Object.keys(requireInput(requests)).join(", ");
}
