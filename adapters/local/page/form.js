// Forms from schemas. An editor is `{ node, read, write }`: `read` gives the value, `undefined` for none, and throws where it is no value.

// Deeper than this, a value is typed as JSON.
const DEEPEST = 4;

function editor(schema, name, required, root, depth = 0) {
  const types = typesOf(schema).filter((type) => type !== "null");
  const isPlain = types.length > 0 && types.every((type) => ["string", "integer", "number", "boolean"].includes(type));
  if (schema.const !== undefined || Array.isArray(schema.enum)) return choice(schema.enum ?? [schema.const], schema, name, required);
  if (types.length === 1 && types[0] === "boolean") return choice([true, false], schema, name, required);
  if (isPlain) return line(schema, types, name, required);
  if (depth < DEEPEST && types.length === 1 && types[0] === "array" && isObject(schema.items) && Object.keys(schema.items).length > 0) {
    const items = resolved(schema.items, root);
    return Array.isArray(items.enum) && items.enum.length <= 20
      ? choices(items.enum, givenBy(schema), name, required)
      : elements(items, givenBy(schema), name, required, root, depth);
  }
  const isGroup = isObject(schema.properties) && Object.keys(schema.properties).length > 0;
  if (depth < DEEPEST && types.length === 1 && types[0] === "object" && isGroup) return group(schema, name, required, root, depth);
  return json(schema, name, required);
}

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
  return { node, read, write };
}

// Any of several values.
function choices(values, given, name, required) {
  const boxes = values.map((value) => [value, make("input", { type: "checkbox", name, value: JSON.stringify(value) })]);
  const node = make(
    "span",
    { class: "choices", role: "group" },
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
    const inner = editor(schema, name, true, root, depth + 1);
    const row = make("div", { class: "element" }, inner.node);
    row.append(
      button(
        "✕",
        () => {
          editors.delete(row);
          row.remove();
          changed(list);
        },
        { "aria-label": "Remove an element of " + name },
      ),
    );
    editors.set(row, inner);
    list.append(row);
    if (value !== undefined) inner.write(value);
    return inner;
  };
  const more = button(
    "Add an element",
    () => {
      const { node } = add();
      changed(list);
      focusIn(node);
    },
    { class: "add" },
  );
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
  return { node: make("div", { class: "elements" }, list, more), read, write };
}

const changed = (node) => node.dispatchEvent(new Event("input", { bubbles: true }));

const focusIn = (node) => (node.matches("input, select, textarea") ? node : node.querySelector("input, select, textarea"))?.focus();

// An object whose properties are known.
function group(schema, name, required, root, depth) {
  const inner = properties(schema, root, depth + 1);
  const read = () => {
    const value = inner.read();
    return Object.keys(value).length === 0 && !required ? undefined : value;
  };
  const write = (value) => inner.write(isObject(value) ? value : {});
  if (required && isObject(givenBy(schema))) write(givenBy(schema));
  return { node: make("fieldset", { "aria-label": name }, ...inner.nodes), read, write };
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

// An editor with its name, its description and its constraints. What is typed is compared with the schema as soon as the editor is left.
function field(schema, name, required, root, depth) {
  const inner = editor(schema, name, required, root, depth);
  const isSingle = inner.node.matches("input, select, textarea");
  const wrong = make("small", { class: "problem", hidden: true });
  const node = make(
    isSingle ? "label" : "div",
    { class: "field" },
    make("span", { class: required ? undefined : "optional" }, required ? name : name + " (optional)"),
    inner.node,
  );
  if (typeof schema.description === "string") node.append(make("small", {}, schema.description));
  const demanded = constraints(schema, inner.node.matches("textarea"));
  if (demanded) node.append(make("small", { class: "constraints" }, demanded));
  node.append(wrong);
  const look = () => {
    let found;
    try {
      const value = inner.read();
      found = value === undefined ? undefined : problem(schema, value);
    } catch (error) {
      found = error.message;
    }
    wrong.hidden = found === undefined;
    wrong.textContent = found ?? "";
  };
  node.addEventListener("change", look);
  node.addEventListener("input", () => {
    if (!wrong.hidden) look();
  });
  return { ...inner, node };
}

function properties(schema, root, depth) {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, inner]) => [
    name,
    field(resolved(inner, root), name, required.has(name), root, depth),
  ]);
  const read = () => {
    const values = {};
    for (const [name, inner] of fields) {
      const value = inner.read();
      // As JSON does: a name such as `__proto__` is a name.
      if (value !== undefined) Object.defineProperty(values, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return values;
  };
  const write = (values) => {
    for (const [name, inner] of fields) inner.write(Object.hasOwn(values, name) ? values[name] : undefined);
  };
  return { nodes: fields.map(([, inner]) => inner.node), read, write };
}

// All arguments of a tool: a form, or the same as JSON.
function argumentsEditor(schema) {
  const root = isObject(schema) ? schema : {};
  const inner = properties(root, root, 0);
  const fields = make("div", { class: "fields" }, ...inner.nodes);
  const raw = make("textarea", { name: "arguments", rows: "8", spellcheck: "false", "aria-label": "Arguments as JSON", hidden: true });
  const readRaw = () => {
    const value = raw.value.trim() === "" ? {} : parsed(raw.value);
    if (!isObject(value)) throw new Error("The arguments are not a JSON object.");
    return value;
  };
  const read = () => (raw.hidden ? inner.read() : readRaw());
  const write = (values) => {
    raw.value = JSON.stringify(values, null, 2);
    inner.write(values);
  };
  const toggle = button(
    "Edit as JSON",
    () => {
      if (raw.hidden) {
        try {
          raw.value = JSON.stringify(inner.read(), null, 2);
        } catch {
          raw.value = "{}";
        }
      } else {
        const value = parsed(raw.value);
        // What cannot be put into the form stays where it can be corrected.
        if (!isObject(value)) return;
        inner.write(value);
      }
      raw.hidden = !raw.hidden;
      fields.hidden = !raw.hidden;
      toggle.textContent = raw.hidden ? "Edit as JSON" : "Edit as a form";
    },
    { class: "as-json" },
  );
  // What a form cannot show, such as a choice between objects, begins as JSON.
  const isChoice = ["oneOf", "anyOf", "allOf", "$ref"].some((keyword) => root[keyword] !== undefined);
  const isOpen = Object.keys(root.properties ?? {}).length === 0 && root.additionalProperties !== false;
  if (isChoice || isOpen) {
    toggle.click();
    if (isObject(givenBy(root))) write(givenBy(root));
  }
  return { nodes: [fields, raw], toggle, read, write };
}
