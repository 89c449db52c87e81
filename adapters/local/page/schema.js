// What a JSON Schema demands, in words, and whether a value is what it demands. The server decides; this only helps to type.

const typesOf = (schema) => [schema.type].flat().filter((type) => type !== undefined);

// A schema without its reference into the same document.
function resolved(schema, root) {
  let found = schema;
  for (let step = 0; step < 8 && typeof found?.$ref === "string" && found.$ref.startsWith("#/"); step += 1) {
    const { $ref, ...beside } = found;
    const parts = $ref
      .slice(2)
      .split("/")
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    found = { ...parts.reduce((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), root), ...beside };
  }
  return isObject(found) ? found : {};
}

const BOUNDS = [
  ["format", "format "],
  ["minimum", "at least "],
  ["exclusiveMinimum", "more than "],
  ["maximum", "at most "],
  ["exclusiveMaximum", "less than "],
  ["multipleOf", "a multiple of "],
  ["minLength", "min. characters: "],
  ["maxLength", "max. characters: "],
  ["pattern", "matches "],
  ["minItems", "min. elements: "],
  ["maxItems", "max. elements: "],
];

// What a schema demands of a value, in words. What has inputs of its own is described there.
function constraints(schema, isWhole) {
  const said = [];
  const types = typesOf(schema);
  if (types.length > 0) said.push(types.join(" or "));
  for (const [name, words] of BOUNDS) if (schema[name] !== undefined) said.push(words + asText(schema[name]));
  if (schema.uniqueItems) said.push("no element twice");
  if (schema.const !== undefined) said.push("always " + JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) said.push("one of " + schema.enum.map(asText).join(", "));
  if (schema.default !== undefined) said.push("default " + JSON.stringify(schema.default));
  if (Array.isArray(schema.examples) && schema.examples.length > 0)
    said.push("for example " + schema.examples.map((value) => JSON.stringify(value)).join(", "));
  if (!isWhole) return said.join("; ");
  if (isObject(schema.items)) said.push("elements: { " + constraints(schema.items, true) + " }");
  const required = new Set(schema.required ?? []);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    said.push(name + (required.has(name) ? "" : " (optional)") + ": { " + constraints(inner, true) + " }");
  }
  return said.join("; ");
}

// Why a single value is not what its schema demands; `undefined` where nothing is found.
function problem(schema, value) {
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return "must be " + types.join(" or ");
  if (Array.isArray(schema.enum) && !schema.enum.some((one) => JSON.stringify(one) === JSON.stringify(value)))
    return "must be one of " + schema.enum.map(asText).join(", ");
  if (typeof value === "number") {
    if (value < schema.minimum) return "must be at least " + schema.minimum;
    if (value > schema.maximum) return "must be at most " + schema.maximum;
    if (value <= schema.exclusiveMinimum) return "must be more than " + schema.exclusiveMinimum;
    if (value >= schema.exclusiveMaximum) return "must be less than " + schema.exclusiveMaximum;
  }
  if (typeof value === "string") {
    const length = [...value].length;
    if (length < schema.minLength) return "must have at least " + schema.minLength + " characters";
    if (length > schema.maxLength) return "must have at most " + schema.maxLength + " characters";
    if (typeof schema.pattern === "string" && matches(schema.pattern, value) === false) return "must match " + schema.pattern;
  }
  if (Array.isArray(value)) {
    if (value.length < schema.minItems) return "must have at least " + schema.minItems + (schema.minItems === 1 ? " element" : " elements");
    if (value.length > schema.maxItems) return "must have at most " + schema.maxItems + (schema.maxItems === 1 ? " element" : " elements");
  }
  return undefined;
}

function isOfType(value, type) {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

// Whether a text matches; `undefined` for a pattern that is none here.
function matches(pattern, text) {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return undefined;
  }
}
