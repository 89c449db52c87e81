import { requireInput } from "millrace";
import { field } from "../../lib/ask";

export default function () {
  const { step1 } = requireInput({ step1: field("Step 1: What is your name?", "name") });
  const { step2 } = requireInput({ step2: field("Step 2: What is your favorite color?", "color") });
  return `${step1.content?.name} likes ${step2.content?.color}.`;
}
