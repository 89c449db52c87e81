import { elicit, requireInput } from "millrace";

const text = (name) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });

export default async function (_, ctx) {
  const { first } = requireInput({ first: elicit("First?", text("answer")) });
  ctx.progress(1, 2, "one answer");
  const { second } = requireInput({ second: elicit(`And after ${first.content.answer}?`, text("answer")) });
  return [first.content.answer, second.content.answer];
}
