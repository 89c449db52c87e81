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

// In a button, which has no list in it, they are spans.
const badgeList = (badges, within) =>
  badges.length > 0
    ? make(
        within ?? "ul",
        { class: "badges" },
        ...badges.map(([text, kind]) => make(within ?? "li", { class: kind ?? "plain" }, kind === "lock" ? padlock() : null, text)),
      )
    : null;

const asProperties = (declared) => ({
  type: "object",
  properties: Object.fromEntries(declared.map(({ name, description }) => [name, { type: "string", description }])),
  required: declared.filter(({ required }) => required).map(({ name }) => name),
  additionalProperties: false,
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

// The address of a resource with values in it.
function addressOf({ name, entry }, values) {
  const encoded = (whole, plus, variable) => (plus ? encodeURI : encodeURIComponent)(values[variable] ?? "");
  return entry.uri ?? name.replace(VARIABLE, encoded);
}

// Sends what the form says. `round` is what a tool that asked is told.
function send({ kind, name, entry }, values, round, options) {
  if (kind === "prompt") return ask("prompts/get", { name, arguments: values }, options);
  if (kind === "resource") return ask("resources/read", { uri: addressOf({ name, entry }, values) }, options);
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
  // What is said of it is said by itself: an answer may be long.
  const outcome = make("div", { "aria-live": "off" });
  const start = make("button", { class: "run" }, { tool: "Call", prompt: "Get", resource: "Read" }[kind]);
  const cancel = button("Cancel", () => running?.abort(), { hidden: true });
  const wrong = make("p", { class: "wrong", hidden: true });
  const anyway = button("Send it all the same", () => void run({}, undefined, true), { hidden: true });
  let running;
  const made = make(
    "form",
    { autocomplete: "off", "aria-label": "Inputs" },
    ...form.nodes,
    wrong,
    make("div", { class: "buttons" }, start, anyway, cancel, form.examples, form.hasFields || kind === "tool" ? form.toggle : null),
  );
  made.noValidate = true;
  withSuggestions(item, made);
  const failure = (text) => {
    const shownText = make("pre", { class: "panel failed failure", tabindex: "-1" }, text);
    outcome.replaceChildren(shownText);
    announce(text);
    shownText.focus();
  };
  const complain = (text, isOurs) => {
    wrong.textContent = text ?? "";
    wrong.hidden = text === undefined;
    anyway.hidden = text === undefined || !isOurs;
  };

  // The values of the form, or `undefined` where they are not what the schema demands; that is then shown beside them.
  function valuesOf(isForced) {
    const problems = isForced ? [] : form.check();
    if (problems.length > 0) {
      const text = counted(problems.length, "field is", "fields are") + " not what the tool asks for.";
      complain(text, true);
      announce(text);
      problems[0].focus();
      return undefined;
    }
    complain(undefined);
    return form.read();
  }

  // The fields that the server refused say why.
  function markIssues(fault) {
    const marked = (fault?.issues ?? []).filter(({ field: name, message }) => form.mark(asText(name ?? ""), asText(message ?? "")));
    if (marked.length > 0) complain("The server refused " + counted(marked.length, "field") + ".", false);
  }

  function showAnswer(answer, values) {
    const asked = answer.message.result?.resultType === "input_required";
    const { nodes, failed, tokens: count, fault, isWide } = answerNodes(answer, open);
    const copies = () => copyButtons(item, values, answer.message, about?.path);
    const repeat = (inputResponses, requestState) => run({ inputResponses, requestState }, values);
    const card = asked ? questions(answer.message.result, repeat) : undefined;
    if (card) outcome.append(card);
    // A question is no answer: of that, the messages are shown.
    const all = make("div", { class: isWide ? "answer stacked" : "answer" }, ...(asked ? nodes.slice(-1) : nodes));
    all.insertBefore(make("div", { class: "wide" }, copies()), all.lastElementChild);
    outcome.append(all);
    if (failed) markIssues(fault);
    announce(asked ? "The tool asks." : failed ? "Failed: " + (fault?.code ?? "an error") : "Answer in " + milliseconds(answer.ms));
    remember({
      name: item.name,
      outcome: asked ? "asked" : failed ? "failed" : "ok",
      code: fault?.code,
      ms: answer.ms,
      tokens: count,
      details: answer.details,
      again: () => show(item.kind, item.name, values),
      copies,
    });
    return card ? (firstControl(card) ?? card) : nodes[0];
  }

  async function run(round = {}, given = undefined, isForced = false) {
    if (running) return;
    let values = given;
    try {
      values ??= valuesOf(isForced);
    } catch (error) {
      return failure(error.message);
    }
    if (values === undefined) return;
    running = new AbortController();
    start.disabled = true;
    cancel.hidden = false;
    outcome.replaceChildren();
    const log = make("pre", { class: "log", tabindex: "0" });
    const heard = (message) => {
      if (!log.isConnected) outcome.prepend(log);
      log.append(notification(message) + "\n");
    };
    try {
      const answer = await send(item, values, round, { heard, signal: running.signal });
      const first = showAnswer(answer, values);
      // Whoever went elsewhere meanwhile is left there.
      if (node.isConnected && isHere(node)) first.focus();
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
  const lock = lockOf(about);
  const look = () => {
    if (lock) lock.hidden = credentials().length > 0;
  };
  look();
  const node = itemNode(item, about, [lock, made, outcome]);
  return {
    node,
    run: () => void run(),
    fill: (values) => {
      complain(undefined);
      form.write(values);
    },
    values: () => attempt(form.read),
    look,
  };
}

// Whether the focus is in an element, or nowhere, as it is where what had it is gone or disabled.
const isHere = (node) => document.activeElement === document.body || node.contains(document.activeElement);

const lockOf = (about) =>
  about?.needs
    ? make(
        "p",
        { class: "quiet locked" },
        "This tool needs " +
          ({ key: "a key", token: "a token, in `Authorization: Bearer …`" }[about.needs] ??
            "credentials, in the header that its plugin reads") +
          ". Fill them in under “Credentials and revision”.",
      )
    : undefined;

function itemNode(item, about, parts) {
  const { entry, kind } = item;
  const size =
    kind === "tool"
      ? make("p", { class: "quiet size" }, ...coded("In `tools/list`: " + estimate(tokens(JSON.stringify(entry))) + "."))
      : null;
  return make(
    "section",
    { class: "item", "data-name": item.name, "data-kind": kind, "aria-label": item.name },
    make("h2", { class: "mono" }, item.name),
    item.title && item.title !== item.name ? make("p", {}, item.title) : null,
    badgeList(badgesOf(item, about)),
    entry.description ? make("p", { class: "description" }, entry.description) : null,
    size,
    ...parts,
    about?.stages ? explained(about) : null,
  );
}

// The questions of a tool, and what is answered.
function questions({ inputRequests = {}, requestState }, answer) {
  const editors = Object.entries(inputRequests).map(([key, request]) => {
    const isQuestion = request.method === "elicitation/create" && isObject(request.params?.requestedSchema);
    const inner = isQuestion ? argumentsEditor({ additionalProperties: false, ...request.params.requestedSchema }) : json({}, key, true);
    const nodes = isQuestion
      ? inner.nodes
      : [make("p", { class: "quiet" }, "The answer to `" + request.method + "`, as JSON:"), inner.node];
    const words = request.params?.message ?? (isQuestion ? "" : JSON.stringify(request.params ?? {}, null, 2));
    return {
      key,
      isQuestion,
      read: inner.read,
      check: inner.check ?? (() => []),
      node: make("div", {}, make("pre", { class: "question", tabindex: "0" }, asText(words)), ...nodes),
    };
  });
  const wrong = make("p", { class: "failure", role: "alert" });
  const reply = (action) => () => {
    const responses = {};
    const problems = action === "accept" ? editors.flatMap(({ check }) => check()) : [];
    if (problems.length > 0) return problems[0].focus();
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
    { class: "panel questions", "aria-label": "The tool asks", tabindex: "-1" },
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
