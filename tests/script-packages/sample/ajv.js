import Ajv from "ajv";

export default function () {
  const ajv = new Ajv.Ajv({ allErrors: true, useDefaults: true, coerceTypes: true, discriminator: true });
  const validate = ajv.compile({
    type: "object",
    properties: {
      id: { type: "integer", minimum: 1 },
      name: { type: "string", pattern: "^\\p{Lu}", maxLength: 5 },
      tags: { type: "array", uniqueItems: true, items: { enum: ["a", "b"] } },
      size: { type: "number", default: 3 },
    },
    required: ["id"],
    additionalProperties: false,
    if: { properties: { size: { const: 3 } } }, then: { required: ["name"] },
  });
  const good = { id: "7", name: "Éva", tags: ["a"] };
  const results = [validate(good), good, validate({ id: 0, name: "ada lovelace", tags: ["a", "a", "c"], other: 1 })];
  return [...results, validate.errors.map(error => [error.instancePath, error.keyword, error.message]), ajv.errorsText(validate.errors)];
}
