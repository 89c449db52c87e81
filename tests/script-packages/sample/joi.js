import Joi from "joi";

export default function () {
  const schema = Joi.object({
    name: Joi.string().trim().min(2).required(), email: Joi.string().email({ tlds: false }), born: Joi.date().iso().max("2020-01-01"), n: Joi.number().integer().default(4),
    tags: Joi.array().items(Joi.string().valid("a", "b")).unique(), when: Joi.when("n", { is: 1, then: Joi.required(), otherwise: Joi.optional() }), link: Joi.string().uri(),
  });
  const bad = schema.validate({ name: "A", email: "x@", born: "2021-01-01", n: 1.5, tags: ["a", "a", "c"], extra: 1, link: "::" }, { abortEarly: false });
  return [schema.validate({ name: " Zoë ", born: "2000-02-29", email: "a@b.co" }).value, bad.error.details.map(detail => [detail.path, detail.type, detail.message]), bad.error.name];
}
