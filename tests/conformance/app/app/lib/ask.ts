import { elicit } from "millrace";

/** A question with one field that has to be filled in. */
export const field = (message: string, name: string, type: "string" | "boolean" = "string") =>
  elicit(message, { type: "object", properties: { [name]: { type } }, required: [name] });

/** A request for a text of a model. */
export const prompt = (text: string, maxTokens: number) => ({
  messages: [{ role: "user", content: { type: "text", text } }],
  maxTokens,
});
