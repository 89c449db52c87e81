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

// A schema whose `allOf` is part of itself.
function merged(schema, root, depth = 0) {
  const own = resolved(schema, root);
  if (!Array.isArray(own.allOf) || depth > 8) return own;
  const { allOf, ...rest } = own;
  return allOf
    .map((one) => merged(one, root, depth + 1))
    .reduce(
      (all, one) => ({
        ...one,
        ...all,
        ...(all.properties || one.properties ? { properties: { ...one.properties, ...all.properties } } : {}),
        ...(all.required || one.required ? { required: [...new Set([...(all.required ?? []), ...(one.required ?? [])])] } : {}),
      }),
      rest,
    );
}

// The alternatives of a schema, without that of nothing; `undefined` where it has none.
function alternativesOf(schema, root) {
  const found = [schema.oneOf, schema.anyOf].find((list) => Array.isArray(list) && list.length > 0);
  return found
    ?.map((one) => merged(one, root))
    .filter((one) => one.type !== "null")
    .map((one) => (one.type === undefined && schema.type !== undefined ? { type: schema.type, ...one } : one));
}

// What an alternative is called.
function alternativeName(schema, index) {
  if (typeof schema.title === "string") return schema.title;
  if (schema.const !== undefined) return asText(schema.const);
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const fixed = properties.find(([, one]) => isObject(one) && (one.const !== undefined || one.enum?.length === 1));
  if (fixed) return fixed[0] + ": " + asText(fixed[1].const ?? fixed[1].enum[0]);
  if (properties.length > 0) return (schema.required ?? properties.map(([name]) => name)).slice(0, 3).join(", ") || properties[0][0];
  return typesOf(schema).join(" or ") || "alternative " + (index + 1);
}

// Whether a value is what a schema demands, as far as is looked at here.
function fits(schema, value, root, depth = 0) {
  const own = merged(schema, root);
  if (problem(own, value) !== undefined) return false;
  if (own.const !== undefined && JSON.stringify(own.const) !== JSON.stringify(value)) return false;
  if (depth > 8) return true;
  const alternatives = alternativesOf(own, root);
  if (alternatives?.length > 0 && !alternatives.some((one) => fits(one, value, root, depth + 1))) return false;
  if (isObject(value)) {
    const properties = isObject(own.properties) ? own.properties : {};
    if ((own.required ?? []).some((name) => !Object.hasOwn(value, name))) return false;
    if (own.additionalProperties === false && Object.keys(value).some((name) => !Object.hasOwn(properties, name))) return false;
    return Object.entries(properties).every(([name, one]) => !Object.hasOwn(value, name) || fits(one, value[name], root, depth + 1));
  }
  return !Array.isArray(value) || !isObject(own.items) || value.every((one) => fits(own.items, one, root, depth + 1));
}

const FORMATS = {
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  time: "12:00:00Z",
  email: "ann@example.com",
  uri: "https://example.com/",
  uuid: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
};

// A value to begin with: the schema's own example, or else one that is made up.
function sampleOf(schema, root, depth = 0) {
  const own = merged(schema, root);
  const given = own.examples?.[0] ?? own.default ?? own.const ?? own.enum?.[0];
  if (given !== undefined) return given;
  const [first] = alternativesOf(own, root) ?? [];
  if (first && depth < DEEPEST) {
    const inner = sampleOf(first, root, depth + 1);
    return isObject(inner) && isObject(own.properties) ? { ...sampleObject(own, root, depth), ...inner } : inner;
  }
  const [type] = typesOf(own).filter((one) => one !== "null");
  switch (type ?? (isObject(own.properties) ? "object" : undefined)) {
    case "integer":
    case "number":
      return own.minimum ?? (own.exclusiveMinimum === undefined ? Math.min(1, own.maximum ?? 1) : own.exclusiveMinimum + 1);
    case "boolean":
      return true;
    case "string":
      return FORMATS[own.format] ?? "text".padEnd(own.minLength ?? 0, "x").slice(0, own.maxLength ?? 4);
    case "array": {
      const one = isObject(own.items) && depth < DEEPEST ? sampleOf(own.items, root, depth + 1) : undefined;
      return one === undefined ? [] : Array.from({ length: Math.min(Math.max(1, own.minItems ?? 1), 10) }, () => one);
    }
    case "object":
      return sampleObject(own, root, depth);
    default:
      return undefined;
  }
}

function sampleObject(schema, root, depth) {
  const made = {};
  for (const [name, one] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (depth >= DEEPEST) break;
    const wanted = schema.required?.includes(name) || merged(one, root).examples !== undefined;
    const value = wanted ? sampleOf(one, root, depth + 1) : undefined;
    if (value !== undefined) Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return made;
}
