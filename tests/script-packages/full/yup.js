import * as yup from "yup";

export default async function () {
  const schema = yup.object({ name: yup.string().trim().required().min(2), age: yup.number().required().positive().integer(), born: yup.date().min(new Date("1900-01-01")), email: yup.string().email(), tags: yup.array().of(yup.string().oneOf(["a", "b"])).default(["a"]), pair: yup.string().when("age", { is: 3, then: s => s.required("needed") }) });
  const bad = await schema.validate({ name: "", age: -1.5, email: "x@", tags: ["c"], born: "nope" }, { abortEarly: false }).catch(error => [error.name, error.message, error.inner.map(inner => [inner.path, inner.type, inner.message]).sort()]);
  return [await schema.validate({ name: " Zoë ", age: "36", born: "2000-02-29T00:00:00Z" }), bad, await schema.isValid({ name: "ab", age: 3 }), yup.reach(schema, "tags[0]").type, schema.cast({ name: 1, age: "2" }).name, yup.string().isValidSync(null)];
}
