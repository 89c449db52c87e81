import { type } from "arktype";

export default function () {
  const user = type({ name: "string > 1", age: "number.integer >= 0", "email?": "string.email", tags: "('a' | 'b')[]" });
  const good = user({ name: "Zoë", age: 41, tags: ["a"] });
  const bad = user({ name: "Z", age: -1.5, email: "nobody", tags: ["c"] });
  const parse = type("string.json.parse").to({ n: "number" });
  return [good, bad.summary, parse('{"n": 2}'), String(parse("{")), user.get("age").expression, user.allows({})];
}
