// Forms from schemas: fields with what is wrong with them, and all arguments of a tool.

// An editor with its name, its description and its constraints. What is typed is compared with the schema as soon as the editor is left.
// `hidden`: a name for those who hear the page, in place of one that is seen.
function field(given, name, required, root, depth, hidden) {
  const schema = merged(given, root);
  const inner = editor(schema, name, required, root, depth);
  const isSingle = inner.node.matches(CONTROLS);
  const wrong = make("small", { class: "problem", id: fresh("problem"), hidden: true });
  const described = [];
  const small = (className, text) => {
    const made = make("small", { class: className, id: fresh("about") }, text);
    described.push(made.id);
    return made;
  };
  const mark = required && !hidden ? make("span", { class: "mark", "aria-hidden": "true" }, " *") : null;
  const title = { class: required ? "name" : "name optional", hidden: hidden !== undefined };
  if (isSingle) inner.node.id = fresh("input");
  const node = make(
    "div",
    { class: hidden === undefined ? "field" : "field bare" },
    isSingle && hidden === undefined ? make("label", { ...title, for: inner.node.id }, name, mark) : make("span", title, name, mark),
    inner.node,
  );
  if (isSingle && hidden !== undefined) inner.node.setAttribute("aria-label", hidden);
  if (typeof schema.description === "string" && hidden === undefined) node.append(small("about", schema.description));
  const demanded = constraints(schema, inner.node.matches("textarea"));
  // Inputs within it, or a list of them, say that by themselves.
  if (demanded && (isSingle || !["object", "array"].includes(demanded))) node.append(small("constraints", demanded));
  node.append(wrong);
  if (isSingle && required) inner.node.setAttribute("required", "");
  if (described.length > 0) inner.node.setAttribute("aria-describedby", described.join(" "));
  const show = (found) => {
    wrong.hidden = found === undefined;
    wrong.textContent = found ?? "";
    const ids = found === undefined ? described : [wrong.id, ...described];
    if (ids.length > 0) inner.node.setAttribute("aria-describedby", ids.join(" "));
    else inner.node.removeAttribute("aria-describedby");
    if (!isSingle) return;
    if (found === undefined) inner.node.removeAttribute("aria-invalid");
    else inner.node.setAttribute("aria-invalid", "true");
  };
  const find = (isStrict) => {
    try {
      const value = inner.read();
      if (isStrict && required && (value === undefined || inner.isEmpty?.())) return "is required: fill it in";
      return value === undefined || (value === "" && inner.isEmpty?.()) ? undefined : problem(schema, value);
    } catch (error) {
      return inner.check ? undefined : error.message;
    }
  };
  node.addEventListener("change", (event) => {
    if (isSingle || event.target.closest(".field") === node) show(find(false));
  });
  node.addEventListener("input", () => {
    if (!wrong.hidden) show(find(true));
  });
  // The controls that have a problem, all of which then show it.
  const check = () => {
    const found = find(true);
    show(found);
    const own = found === undefined ? [] : [isSingle ? inner.node : (inner.node.querySelector(CONTROLS + ", button") ?? inner.node)];
    return [...own, ...(inner.check?.() ?? [])];
  };
  const markAt = (path, message) => {
    if (path.length > 0 && inner.mark?.(path, message) === true) return true;
    show(message);
    return true;
  };
  const clear = () => {
    show(undefined);
    inner.clear?.();
  };
  return { ...inner, node, check, mark: markAt, clear };
}

function properties(schema, root, depth, without = new Set()) {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(isObject(schema.properties) ? schema.properties : {})
    .filter(([name]) => !without.has(name))
    .map(([name, inner]) => [name, field(inner, name, required.has(name), root, depth)]);
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
  return {
    nodes: fields.map(([, inner]) => inner.node),
    hasRequired: fields.some(([name]) => required.has(name)),
    read,
    write,
    check: () => fields.flatMap(([, inner]) => inner.check()),
    mark: ([name, ...rest], message) => fields.find(([own]) => own === name)?.[1].mark(rest, message),
    clear: () => fields.forEach(([, inner]) => inner.clear()),
  };
}

// An object with alternatives: the properties that all have, which alternative, and the properties of that.
// `undefined` where the alternatives have no properties of their own.
function objectUnion(schema, root) {
  const alternatives = alternativesOf(schema, root);
  if (!alternatives?.length || !alternatives.every((one) => isObject(one.properties) && Object.keys(one.properties).length > 0))
    return undefined;
  const own = new Set(alternatives.flatMap((one) => Object.keys(one.properties)));
  const base = properties(schema, root, 0, own);
  const chosen = union(
    alternatives.map((one) => ({ ...one, type: "object" })),
    {},
    "arguments",
    true,
    root,
    0,
  );
  return {
    nodes: [...base.nodes, make("div", { class: "field" }, make("span", { class: "name" }, "One of"), chosen.node)],
    hasRequired: true,
    read: () => ({ ...base.read(), ...chosen.read() }),
    write: (values) => {
      base.write(values);
      // What all have is no part of an alternative that takes nothing else.
      chosen.write(Object.fromEntries(Object.entries(values).filter(([name]) => own.has(name))));
    },
    check: () => [...base.check(), ...chosen.check()],
    mark: (path, message) => base.mark(path, message) ?? chosen.mark(path, message),
    clear: () => {
      base.clear();
      chosen.clear();
    },
  };
}

// All arguments of a tool: a form, or the same as JSON.
function argumentsEditor(schema) {
  const root = isObject(schema) ? schema : {};
  const whole = merged(root, root);
  const asUnion = objectUnion(whole, root);
  const inner = asUnion ?? properties(whole, root, 0);
  const note = inner.hasRequired ? make("p", { class: "quiet legend-required" }, "* is required") : null;
  const fields = make("div", { class: "fields" }, note, ...inner.nodes);
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
    inner.clear();
  };
  const turn = () => {
    if (raw.hidden) raw.value = JSON.stringify(attempt(inner.read) ?? {}, null, 2);
    else {
      const value = parsed(raw.value);
      // What cannot be put into the form stays where it can be corrected.
      if (!isObject(value)) return;
      inner.write(value);
    }
    raw.hidden = !raw.hidden;
    fields.hidden = !raw.hidden;
    toggle.textContent = raw.hidden ? "Edit as JSON" : "Edit as a form";
  };
  const toggle = button("Edit as JSON", turn, { class: "as-json" });
  // What has no form begins as JSON.
  const hasFields = inner.nodes.length > 0;
  const isOpen = Boolean(whole.additionalProperties) || whole.properties === undefined;
  const hasNoForm = !hasFields && whole.additionalProperties !== false && (isOpen || alternativesOf(whole, root) !== undefined);
  if (hasNoForm) turn();
  if (isObject(givenBy(whole))) write(givenBy(whole));
  const fill = () => {
    const typed = attempt(read) ?? {};
    const sample = sampleOf(whole, root);
    const kept = Object.entries(typed).filter(([, value]) => value !== "");
    write({ ...(isObject(sample) ? sample : {}), ...Object.fromEntries(kept) });
  };
  const examples = hasFields || hasNoForm ? button("Fill in examples", fill, { class: "examples" }) : null;
  return {
    nodes: [fields, raw],
    toggle,
    examples,
    hasFields,
    read,
    write,
    check: () => (raw.hidden ? inner.check() : []),
    // Shows what the server found wrong; whether there is a place for it.
    mark: (path, message) => raw.hidden && inner.mark(path.split(/[.[\]]+/).filter(Boolean), message) === true,
    clear: inner.clear,
  };
}
