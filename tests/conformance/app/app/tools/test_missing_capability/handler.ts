import { requireInput, sample } from "millrace";
import { prompt } from "../../lib/ask";

export default function () {
  const { thought } = requireInput({ thought: sample(prompt("Say something.", 50)) });
  return thought;
}
