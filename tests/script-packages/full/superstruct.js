import { array, assert, coerce, create, date, defaulted, define, enums, is, number, object, optional, refine, size, string, StructError, trimmed, union, validate } from "superstruct";

export default function () {
  const user = object({ id: number(), name: size(trimmed(string()), 1, 5), role: defaulted(enums(["a", "b"]), "a"), born: optional(coerce(date(), string(), text => new Date(text))), even: optional(refine(number(), "even", n => n % 2 === 0 || "not even")) });
  const [error] = validate({ id: "x", name: "too long a name", extra: 1 }, user);
  const caught = (() => { try { assert([1, "x"], array(number())); } catch (failure) { return [failure instanceof StructError, failure.message]; } })();
  return [create({ id: 1, name: " Zoë ", born: "2024-02-29" }, user), error.failures().map(failure => [failure.path, failure.message]), caught, is("a", union([number(), define("letter", value => /^\p{L}$/u.test(value))])), validate({ id: 1, name: "x", role: "a", even: 3 }, user)[0].message];
}
