import { requireInput, sample } from "millrace";
import { prompt } from "../../lib/ask";

export default function () {
  const { capital_question } = requireInput({ capital_question: sample(prompt("What is the capital of France?", 100)) });
  return capital_question.content.text ?? "No text.";
}
