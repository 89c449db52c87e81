// One tool, prompt or resource on the right: what it is, its form, its answer.

// What an entry of a list is here. `key` names it in the address of the page.
const itemOf = {
  tool: (entry) => ({ kind: "tool", name: entry.name, title: entry.title ?? entry.annotations?.title, entry }),
  prompt: (entry) => ({ kind: "prompt", name: entry.name, title: entry.title, entry }),
  resource: (entry) => ({ kind: "resource", name: entry.uri ?? entry.uriTemplate, title: entry.title ?? entry.name, entry }),
};

function badgesOf(item, { needs, confirm } = {}) {
  const badges = [];
  if (needs === "key") badges.push(["needs a key", "lock"]);
  if (needs === "token") badges.push(["needs a token", "lock"]);
  if (needs === "script") badges.push(["needs credentials", "lock"]);
  if (item.kind === "resource" && item.entry.mimeType) badges.push([item.entry.mimeType]);
  if (item.kind !== "tool") return badges;
  const hints = item.entry.annotations ?? {};
  if (hints.readOnlyHint) badges.push(["read-only"]);
  if (hints.destructiveHint) badges.push(["destructive", "warning"]);
  if (hints.destructiveHint === false && !hints.readOnlyHint) badges.push(["not destructive"]);
  if (hints.idempotentHint) badges.push(["idempotent"]);
  if (hints.openWorldHint) badges.push(["open world"]);
  if (confirm) badges.push(["asks for a confirmation"]);
  for (const tag of item.entry._meta?.["millrace/tags"] ?? []) badges.push(["#" + tag]);
  return badges;
}

// Not every system has a font with a lock.
const padlock = () =>
  shape(
    "svg",
    { class: "padlock", viewBox: "0 0 12 12", width: 11, height: 11, "aria-hidden": "true" },
    shape("rect", { x: 1.5, y: 5, width: 9, height: 6.5, rx: 1 }),
    shape("path", { d: "M3.5 5V3.5a2.5 2.5 0 0 1 5 0V5" }),
  );

const badgeList = (badges) =>
  badges.length > 0
    ? make(
        "ul",
        { class: "badges" },
        ...badges.map(([text, kind]) => make("li", { class: kind }, kind === "lock" ? padlock() : null, text)),
      )
    : null;

const asProperties = (declared) => ({
  type: "object",
  properties: Object.fromEntries(declared.map(({ name, description }) => [name, { type: "string", description }])),
  required: declared.filter(({ required }) => required).map(({ name }) => name),
});

// The variables of a template are `{name}` and `{+name}`, whose value may have `/`.
const VARIABLE = /\{(\+?)(\w+)\}/g;

function schemaOf({ kind, entry, name }) {
  if (kind === "tool") return entry.inputSchema;
  if (kind === "prompt") return asProperties(entry.arguments ?? []);
  return asProperties(
    entry.uri === undefined ? [...name.matchAll(VARIABLE)].map(([, , variable]) => ({ name: variable, required: true })) : [],
  );
}

// Sends what the form says. `round` is what a tool that asked is told.
function send({ kind, name, entry }, values, round, options) {
  if (kind === "prompt") return ask("prompts/get", { name, arguments: values }, options);
  if (kind === "resource") {
    const encoded = (whole, plus, variable) => (plus ? encodeURI : encodeURIComponent)(values[variable] ?? "");
    return ask("resources/read", { uri: entry.uri ?? name.replace(VARIABLE, encoded) }, options);
  }
  const modern = revision.value === "2026-07-28";
  const mirrored = Object.entries(entry.inputSchema?.properties ?? {})
    .filter(([input, schema]) => schema["x-mcp-header"] !== undefined && ["string", "number", "boolean"].includes(typeof values[input]))
    .map(([input, schema]) => [schema["x-mcp-header"], values[input]]);
  return ask("tools/call", { name, arguments: values, ...round, _meta: { progressToken: lastId + 1 } }, { ...options, modern, mirrored });
}

// The view of an item: `{ node, values, fill, run }`. `open` gives a button that opens another item with values, if there is one.
function view(item, about, open) {
  const { entry, kind } = item;
  const form = argumentsEditor(schemaOf(item));
  const outcome = make("div", { "aria-live": "polite" });
  const start = make("button", { class: "run" }, { tool: "Call", prompt: "Get", resource: "Read" }[kind]);
  const cancel = button("Cancel", () => running?.abort(), { hidden: true });
  let running;
  const made = make(
    "form",
    { autocomplete: "off" },
    ...form.nodes,
    make("div", { class: "buttons" }, start, cancel, form.nodes[0].children.length > 0 || kind === "tool" ? form.toggle : null),
  );
  made.noValidate = true;
  const failure = (text) => outcome.replaceChildren(make("pre", { class: "panel failed failure" }, text));

  async function run(round = {}, given = undefined) {
    if (running) return;
    let values = given;
    try {
      values ??= form.read();
    } catch (error) {
      return failure(error.message);
    }
    running = new AbortController();
    start.disabled = true;
    cancel.hidden = false;
    outcome.replaceChildren();
    const log = make("pre", { class: "log" });
    const heard = (message) => {
      if (!log.isConnected) outcome.prepend(log);
      log.append(notification(message) + "\n");
    };
    try {
      const answer = await send(item, values, round, { heard, signal: running.signal });
      const asked = answer.message.result?.resultType === "input_required";
      const { nodes, failed, tokens: count } = answerNodes(answer, open);
      if (asked)
        outcome.append(questions(answer.message.result, (inputResponses, requestState) => run({ inputResponses, requestState }, values)));
      // A question is no answer: of that, the messages are shown.
      outcome.append(make("div", { class: "answer" }, ...(asked ? nodes.slice(-1) : nodes)));
      remember({
        name: item.name,
        outcome: asked ? "asked" : failed ? "failed" : "ok",
        ms: answer.ms,
        tokens: count,
        details: answer.details,
        again: () => show(item.kind, item.name, values),
      });
    } catch (error) {
      failure(error.name === "AbortError" ? "The call was cancelled." : "No answer: " + error.message);
    } finally {
      running = undefined;
      start.disabled = false;
      cancel.hidden = true;
    }
  }

  made.addEventListener("submit", (event) => {
    event.preventDefault();
    void run();
  });
  const size =
    kind === "tool"
      ? make("p", { class: "quiet size" }, ...coded("In `tools/list`: " + estimate(tokens(JSON.stringify(entry))) + "."))
      : null;
  const lock = about?.needs
    ? make(
        "p",
        { class: "quiet locked" },
        "This tool needs " +
          ({ key: "a key", token: "a token, in `Authorization: Bearer …`" }[about.needs] ?? "credentials, in the header that its plugin reads") +
          ". Fill them in under “Credentials and revision”.",
      )
    : null;
  const look = () => {
    if (lock) lock.hidden = credentials().length > 0;
  };
  look();
  const node = make(
    "section",
    { class: "item", "data-name": item.name, "data-kind": kind },
    make("h2", { class: "mono" }, item.name),
    item.title && item.title !== item.name ? make("p", {}, item.title) : null,
    badgeList(badgesOf(item, about)),
    entry.description ? make("p", { class: "description" }, entry.description) : null,
    size,
    lock,
    made,
    outcome,
    about?.stages ? explained(about) : null,
  );
  return {
    node,
    run: () => void run(),
    fill: form.write,
    values: () => {
      try {
        return form.read();
      } catch {
        return undefined;
      }
    },
    look,
  };
}

// The questions of a tool, and what is answered.
function questions({ inputRequests = {}, requestState }, answer) {
  const editors = Object.entries(inputRequests).map(([key, request]) => {
    const isQuestion = request.method === "elicitation/create" && isObject(request.params?.requestedSchema);
    const inner = isQuestion ? argumentsEditor(request.params.requestedSchema) : json({}, key, true);
    const nodes = isQuestion
      ? inner.nodes
      : [make("p", { class: "quiet" }, "The answer to `" + request.method + "`, as JSON:"), inner.node];
    const words = request.params?.message ?? (isQuestion ? "" : JSON.stringify(request.params ?? {}, null, 2));
    return { key, isQuestion, read: inner.read, node: make("div", {}, make("pre", { class: "question" }, asText(words)), ...nodes) };
  });
  const wrong = make("p", { class: "failure" });
  const reply = (action) => () => {
    const responses = {};
    try {
      for (const { key, isQuestion, read } of editors) {
        if (!isQuestion) responses[key] = read() ?? {};
        else responses[key] = action === "accept" ? { action, content: read() } : { action };
      }
    } catch (error) {
      wrong.textContent = error.message;
      return;
    }
    answer(responses, requestState);
  };
  return make(
    "section",
    { class: "panel questions", "aria-label": "The tool asks" },
    make("h3", {}, "The tool asks"),
    ...editors.map(({ node }) => node),
    wrong,
    make(
      "div",
      { class: "buttons" },
      button("Accept", reply("accept"), { class: "run" }),
      button("Decline", reply("decline")),
      button("Cancel the question", reply("cancel")),
    ),
  );
}
