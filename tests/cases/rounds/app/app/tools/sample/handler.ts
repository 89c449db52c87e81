import { requireInput, sample } from "millrace";

export default function () {
  const messages = [{ role: "user", content: { type: "text", text: "What is the capital of France?" } }];
  const { capital } = requireInput({ capital: sample({ messages, maxTokens: 100 }) });
  return capital.content.text;
}
