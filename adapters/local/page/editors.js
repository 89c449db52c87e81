// Editors of single values and of lists. An editor is `{ node, read, write }`: `read` gives the value, `undefined` for none, and throws where
// it is no value. One that has editors within also has `check`, which gives the controls of those with a problem, and `mark`, which shows a
// problem that the server found.

// Deeper than this, a value is typed as JSON.
const DEEPEST = 4;

function editor(given, name, required, root, depth = 0) {
  const schema = merged(given, root);
  const types = typesOf(schema).filter((type) => type !== "null");
  const isPlain = types.length > 0 && types.every((type) => ["string", "integer", "number", "boolean"].includes(type));
  if (schema.const !== undefined || Array.isArray(schema.enum)) return choice(schema.enum ?? [schema.const], schema, name, required);
  const alternatives = alternativesOf(schema, root);
  if (alternatives?.length === 1)
    return editor({ ...schema, oneOf: undefined, anyOf: undefined, ...alternatives[0] }, name, required, root, depth);
  if (isAnything(alternatives)) return json(schema, name, required);
  if (alternatives?.length > 0 && depth < DEEPEST) return union(alternatives, schema, name, required, root, depth);
  if (types.length === 1 && types[0] === "boolean") return choice([true, false], schema, name, required);
  if (isPlain) return line(schema, types, name, required);
  if (depth < DEEPEST && types.length === 1 && types[0] === "array" && isObject(schema.items) && Object.keys(schema.items).length > 0) {
    const items = merged(schema.items, root);
    return Array.isArray(items.enum) && items.enum.length <= 20
      ? choices(items.enum, givenBy(schema), name, required)
      : elements(items, givenBy(schema), name, required, root, depth);
  }
  const isGroup = isObject(schema.properties) && Object.keys(schema.properties).length > 0;
  if (depth < DEEPEST && (types.length === 0 || (types.length === 1 && types[0] === "object")) && isGroup)
    return group(schema, name, required, root, depth);
  return json(schema, name, required);
}

// Whether nothing is said of a value but that it is one.
const isAnything = (alternatives) =>
  alternatives?.some(({ type }) => type === "object" || type === "array") === true &&
  alternatives.every((one) => Object.entries(one).every(([key, value]) => key === "type" || (key === "items" && asText(value) === "{}")));

// What a value is filled in with where it is required.
const givenBy = (schema) => schema.examples?.[0] ?? schema.default;

// One value of several.
function choice(values, schema, name, required) {
  const node = make("select", { name });
  if (!required || (schema.default === undefined && values.length > 1)) node.append(make("option", { value: "" }, ""));
  for (const value of values) node.append(make("option", { value: JSON.stringify(value) }, asText(value)));
  const write = (value) => {
    node.value = value === undefined ? "" : JSON.stringify(value);
  };
  if (schema.default !== undefined) write(schema.default);
  return { node, read: () => (node.value === "" ? undefined : JSON.parse(node.value)), write };
}

// A text or a number.
function line(schema, types, name, required) {
  const isNumber = types.includes("integer") || types.includes("number");
  const isLong = !isNumber && (schema.maxLength > 200 || /\n/.test(asText(givenBy(schema) ?? "")));
  const attributes = { name, autocomplete: "off", spellcheck: "false" };
  const node = isLong
    ? make("textarea", { ...attributes, rows: "3" })
    : make("input", { ...attributes, type: "text", inputmode: isNumber ? "decimal" : undefined });
  const given = givenBy(schema);
  const write = (value) => {
    node.value = value === undefined ? "" : asText(value);
  };
  if (given !== undefined && required) write(given);
  else if (schema.default !== undefined) node.placeholder = asText(schema.default);
  else if (given !== undefined) node.placeholder = "for example " + asText(given);
  const read = () => {
    if (node.value === "" && !(required && types.includes("string"))) return undefined;
    if (types.includes("boolean") && ["true", "false"].includes(node.value)) return node.value === "true";
    const number = Number(node.value);
    // An integer that JavaScript would round is sent as it was typed.
    const isExact = Number.isFinite(number) && (Number.isSafeInteger(number) || !Number.isInteger(number) || /[.e]/i.test(node.value));
    return isNumber && node.value.trim() !== "" && isExact ? number : node.value;
  };
  return { node, read, write, isEmpty: () => node.value === "" && schema.minLength !== 0 };
}

// Any of several values.
function choices(values, given, name, required) {
  const boxes = values.map((value) => [value, make("input", { type: "checkbox", name, value: JSON.stringify(value) })]);
  const node = make(
    "span",
    { class: "choices", role: "group", "aria-label": name },
    ...boxes.map(([value, box]) => make("label", {}, box, " " + asText(value))),
  );
  const read = () => {
    const chosen = boxes.filter(([, box]) => box.checked).map(([value]) => value);
    return chosen.length === 0 && !required ? undefined : chosen;
  };
  const write = (value = []) => {
    const wanted = new Set([value].flat().map((one) => JSON.stringify(one)));
    for (const [own, box] of boxes) box.checked = wanted.has(JSON.stringify(own));
  };
  if (required && given !== undefined) write(given);
  return { node, read, write };
}

// A list: any number of the same.
function elements(schema, given, name, required, root, depth) {
  const list = make("div");
  const editors = new Map();
  const add = (value) => {
    const inner = field(schema, name, true, root, depth + 1, "An element of " + name);
    const remove = () => {
      editors.delete(row);
      row.remove();
      more.focus();
      changed(list);
    };
    const row = make("div", { class: "element" }, inner.node, button("✕", remove, { "aria-label": "Remove an element of " + name }));
    editors.set(row, inner);
    list.append(row);
    if (value !== undefined) inner.write(value);
    return inner;
  };
  const addEmpty = () => {
    const { node } = add();
    changed(list);
    focusIn(node);
  };
  const more = button("Add an element", addEmpty, { class: "add", "aria-label": "Add an element of " + name });
  const read = () => {
    const values = [...editors.values()].map((inner) => inner.read()).filter((value) => value !== undefined);
    return editors.size === 0 && !required ? undefined : values;
  };
  const write = (values) => {
    editors.clear();
    list.replaceChildren();
    for (const value of Array.isArray(values) ? values : []) add(value);
  };
  if (required && given !== undefined) write(given);
  const inner = () => [...editors.values()];
  return {
    node: make("div", { class: "elements", role: "group", "aria-label": name }, list, more),
    read,
    write,
    check: () => inner().flatMap((one) => one.check()),
    mark: ([at, ...rest], message) => inner()[Number(at)]?.mark(rest, message),
    clear: () => inner().forEach((one) => one.clear()),
  };
}

const changed = (node) => node.dispatchEvent(new Event("input", { bubbles: true }));

const focusIn = (node) => (node.matches(CONTROLS) ? node : firstControl(node))?.focus();

// An object whose properties are known.
function group(schema, name, required, root, depth) {
  const inner = properties(schema, root, depth + 1);
  const read = () => {
    const value = inner.read();
    return Object.keys(value).length === 0 && !required ? undefined : value;
  };
  const write = (value) => inner.write(isObject(value) ? value : {});
  if (required && isObject(givenBy(schema))) write(givenBy(schema));
  // What is optional is looked at once something of it is there.
  const check = () => {
    if (!required && attempt(read) === undefined) {
      inner.clear();
      return [];
    }
    return inner.check();
  };
  return { node: make("fieldset", { "aria-label": name }, ...inner.nodes), read, write, check, mark: inner.mark, clear: inner.clear };
}

// One of several kinds of value: which, and the editor of that.
function union(alternatives, schema, name, required, root, depth) {
  const values = alternatives.flatMap((one) => (one.const === undefined ? (one.enum ?? [undefined]) : [one.const]));
  if (!values.includes(undefined)) return choice(values, schema, name, required);
  const select = make("select", { class: "alternative", "aria-label": "Kind of " + name });
  if (!required) select.append(make("option", { value: "" }, ""));
  alternatives.forEach((one, index) => select.append(make("option", { value: String(index) }, alternativeName(one, index))));
  const place = make("div", { class: "chosen" });
  const made = new Map();
  // What was typed stays while another kind is looked at.
  const chosen = () => {
    if (select.value === "") return undefined;
    if (!made.has(select.value))
      made.set(select.value, field(alternatives[Number(select.value)], name, true, root, depth + 1, "Value of " + name));
    return made.get(select.value);
  };
  const look = () => place.replaceChildren(...[chosen()?.node].filter(Boolean));
  select.addEventListener("change", look);
  look();
  const write = (value) => {
    if (value === undefined && !required) select.value = "";
    else if (value !== undefined) {
      const index = alternatives.findIndex((one) => fits(one, value, root));
      select.value = String(Math.max(0, index));
    }
    look();
    chosen()?.write(value);
  };
  if (givenBy(schema) !== undefined && required) write(givenBy(schema));
  return {
    node: make("div", { class: "union", role: "group", "aria-label": name }, select, place),
    read: () => chosen()?.read(),
    write,
    check: () => chosen()?.check() ?? [],
    mark: (path, message) => chosen()?.mark(path, message),
    clear: () => chosen()?.clear(),
  };
}

// Anything else, as JSON.
function json(schema, name, required) {
  const node = make("textarea", { name, rows: "2", placeholder: "JSON", spellcheck: "false" });
  const write = (value) => {
    node.value = value === undefined ? "" : JSON.stringify(value, null, 2);
  };
  const given = givenBy(schema);
  if (given !== undefined && required) write(given);
  const read = () => {
    if (node.value.trim() === "") return undefined;
    try {
      return JSON.parse(node.value);
    } catch {
      throw new Error("`" + name + "` is not valid JSON.");
    }
  };
  return { node, read, write };
}
