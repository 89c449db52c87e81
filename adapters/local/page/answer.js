// Answers: as people see them, as the model sees them, and as they came.

// For whom a block is. Without annotations, for both.
const isFor = (role, block) => !Array.isArray(block?.annotations?.audience) || block.annotations.audience.includes(role);

const isText = (block) => block?.type === "text" && typeof block.text === "string";

// The estimate: a token is about four bytes.
const tokens = (text) => Math.ceil(bytes(text) / 4);

const estimate = (count) => "≈ " + thousands(count) + (count === 1 ? " token" : " tokens");

const UI_BLOCK = /^<ui_passthrough((?: [a-z]+="[^"]*")*)>\n([\s\S]*)\n<\/ui_passthrough>$/;
const FENCED = /^(`{3,})([^\n]*)\n([\s\S]*)\n\1$/;
const FOR_MODELS = /^<([a-z_]+)>\n((?:- [^\n]*\n)+)<\/\1>$/;
const STALE = /^<cache_invalidation cause="([^"]*)" domains="([^"]*)" \/>$/;
const ACTION = /^([\w.-]+): (.*?)(?: \(args: (\{.*\})\))?$/;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const unescaped = (text) => text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => ENTITIES[name]);

// What is drawn, or `undefined` where that fails: an app may send anything.
function attempt(draw) {
  try {
    return draw();
  } catch {
    return undefined;
  }
}

// One block for people. `open` opens a tool with arguments.
function shown(block, open) {
  const draw = () => (isText(block) ? shownText(block.text, open) : shownOther(block, open));
  const inner = attempt(draw) ?? { node: verbatim(JSON.stringify(block, null, 2)) };
  const audience = block?.annotations?.audience;
  const only =
    Array.isArray(audience) && audience.length === 1
      ? { user: "for people only", assistant: "for the model only" }[audience[0]]
      : undefined;
  const made = make("div", { class: inner.width ?? "full" }, only ? make("p", { class: "audience" }, only) : null, inner.node);
  return made;
}

function shownText(text, open) {
  const ui = text.match(UI_BLOCK);
  if (ui) {
    const attributes = Object.fromEntries([...ui[1].matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, name, value]) => [name, unescaped(value)]));
    const title = attributes.title ? make("h3", {}, attributes.title) : null;
    const width = ["half", "third"].includes(attributes.width) ? attributes.width : "full";
    return { node: make("section", { class: "ui" }, title, picture(attributes.type, ui[2], attributes.title)), width };
  }
  const stale = text.match(STALE);
  if (stale) return { node: make("section", {}, make("h3", {}, "Made stale"), make("p", { class: "mono" }, unescaped(stale[2]))) };
  const lines = text.match(FOR_MODELS);
  if (lines) {
    const items = lines[2]
      .trimEnd()
      .split("\n")
      .map((line) => unescaped(line.slice(2)));
    const title = { llm_directives: "Hints", domain_rules: "Rules", action_suggestions: "Suggested calls" }[lines[1]] ?? lines[1];
    const item = (line) => make("li", {}, ...(lines[1] === "action_suggestions" ? suggestion(line, open) : [line]));
    return { node: make("section", {}, make("h3", {}, title), make("ul", {}, ...items.map(item))) };
  }
  const value = parsed(text);
  if (value !== undefined && typeof value === "object") return { node: data(value) };
  return { node: verbatim(text) };
}

function suggestion(line, open) {
  const [, name, reason, args] = line.match(ACTION) ?? [];
  const opened = name && open(name, args ? parsed(args) : undefined);
  return opened ? [opened, " " + reason, ...(args ? [" ", make("code", {}, args)] : [])] : [line];
}

// What a UI block shows. What cannot be drawn is its source.
function picture(type, content, title) {
  const fenced = content.match(FENCED);
  const source = fenced ? fenced[3] : content;
  const withSource = (drawing, language) =>
    drawing
      ? make("div", {}, drawing, make("details", { class: "source" }, make("summary", {}, "Source"), code(language, source)))
      : make("div", {}, make("p", { class: "quiet" }, "This page draws simple charts only; this is the source."), code(language, source));
  if (type === "echarts")
    return withSource(
      attempt(() => chart(parsed(source), title)),
      "echarts",
    );
  if (type === "mermaid")
    return withSource(
      attempt(() => flow(source, title)),
      "mermaid",
    );
  if (type === "json") return data(parsed(source) ?? source);
  if (fenced && type !== "markdown") return code(fenced[2], source);
  return markdown(content);
}

function shownOther(block, open) {
  if (block?.type === "image" || block?.type === "audio") {
    const made = media(block.mimeType, block.data, block.type);
    if (made) return { node: made };
  }
  if (block?.type === "resource" && isObject(block.resource))
    return { node: make("div", {}, make("p", { class: "audience" }, asText(block.resource.uri ?? "")), contents(block.resource)) };
  if (block?.type === "resource_link") {
    const opened = open(block.uri);
    return {
      node: make("p", {}, opened ?? make("code", {}, asText(block.uri ?? "")), " " + asText(block.description ?? block.name ?? "")),
    };
  }
  return { node: verbatim(JSON.stringify(block, null, 2)) };
}

// The contents of a resource.
function contents(resource) {
  if (typeof resource.blob === "string")
    return (
      media(resource.mimeType, resource.blob, asText(resource.uri ?? "")) ??
      make("p", {}, thousands(Math.floor((resource.blob.length * 3) / 4)) + " bytes of " + asText(resource.mimeType ?? "unknown type"))
    );
  const text = asText(resource.text ?? "");
  if (resource.mimeType === "text/markdown") return markdown(text);
  const value = parsed(text);
  return value !== undefined && typeof value === "object" ? data(value) : verbatim(text);
}

const isRows = (value) => Array.isArray(value) && value.length > 0 && value.every(isObject);

// A value: rows as a table, an object with one list of rows as its other members and a table, anything else as JSON.
function data(value) {
  if (isRows(value)) return rowsTable(value);
  if (isObject(value)) {
    const lists = Object.entries(value).filter(([, member]) => isRows(member));
    if (lists.length === 1) {
      const [name, rows] = lists[0];
      const others = Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
      return make(
        "div",
        {},
        Object.keys(others).length > 0 ? verbatim(JSON.stringify(others, null, 2)) : null,
        make("h3", {}, name),
        rowsTable(rows),
      );
    }
  }
  return verbatim(typeof value === "string" ? value : JSON.stringify(value, null, 2));
}

// The blocks that a model reads, and what they cost.
function forModel(blocks) {
  const read = blocks.filter((block) => isFor("assistant", block));
  const texts = read.map((block) =>
    isText(block) ? block.text : block?.type === "resource" && typeof block.resource?.text === "string" ? block.resource.text : undefined,
  );
  const count = texts.reduce((sum, text) => sum + (text === undefined ? 0 : tokens(text)), 0);
  const others = texts.filter((text) => text === undefined).length;
  const nodes = read.map((block, index) =>
    make(
      "pre",
      { class: "model", tabindex: "0" },
      texts[index] ?? "[" + asText(block?.type ?? "block") + " " + asText(block?.mimeType ?? block?.uri ?? "") + "]",
    ),
  );
  const left = blocks.length - read.length;
  return { nodes, count, others, left };
}

const blocksOf = ({ result }) => {
  if (Array.isArray(result?.content)) return result.content;
  if (Array.isArray(result?.messages)) return result.messages.map(({ content }) => content);
  if (Array.isArray(result?.contents)) return result.contents.map((resource) => ({ type: "resource", resource }));
  return [];
};

// What is drawn for people stands before what they share with the model.
function forPeopleFirst(blocks) {
  const isDrawn = (block) => isText(block) && UI_BLOCK.test(block.text);
  return [...blocks.filter(isDrawn), ...blocks.filter((block) => !isDrawn(block))];
}

// The answer as people see it.
function shownAnswer({ status, message }, fault, open) {
  const { result } = message;
  if (fault) return [failureNode(fault, status)];
  if (!result) return [make("pre", { class: "failure", tabindex: "0" }, JSON.stringify(message, null, 2))];
  if (Array.isArray(result.messages)) {
    const spoken = ({ role, content }) =>
      make("div", { class: "full" }, make("p", { class: "audience" }, asText(role) + ":"), shown(content, open));
    return result.messages.map(spoken);
  }
  const blocks = blocksOf(message);
  const shownBlocks = forPeopleFirst(blocks).map((block) => shown(block, open));
  const structured = result.structuredContent;
  // Where a tool gives one item or a list, they are the member `result` of an object.
  const isOf = (block) => [structured, structured?.result].some((value) => JSON.stringify(parsed(block.text)) === JSON.stringify(value));
  const isSame = structured !== undefined && blocks.some((block) => isText(block) && isOf(block));
  if (structured !== undefined && !isSame)
    shownBlocks.push(make("div", { class: "full" }, make("h3", {}, "Structured content"), data(structured)));
  return shownBlocks;
}

// What the log of this machine says, and the caller is not told.
const logOf = ({ log }) =>
  log
    ? make(
        "div",
        {},
        make("p", { class: "quiet" }, "The log says, and the caller is not told:"),
        make("pre", { class: "details", tabindex: "0" }, log),
      )
    : null;

// All of an answer: `{ nodes, failed, tokens, fault }`. The first node takes the focus.
function answerNodes(answer, open) {
  const { status, message, sent, ms, details } = answer;
  const { result } = message;
  const failed = !result || result.isError === true;
  const fault = failed ? failureOf(message) : undefined;
  const model = forModel(blocksOf(message));
  const title = (failed ? "Failed" : "Answer") + " · " + milliseconds(ms);
  const rendered = make(
    "section",
    { class: failed ? "panel rendered failed" : "panel rendered", "aria-label": failed ? "Failure" : "Answer", tabindex: "-1" },
    make("h3", {}, title),
    logOf(details),
    make("div", { class: "blocks" }, ...shownAnswer(answer, fault, open)),
  );
  const nodes = [rendered, modelNode(message, model), messagesNode(sent, status, message)];
  return { nodes, failed, tokens: model.count, fault, isWide: rendered.querySelector("[data-wide]") !== null };
}

function modelNode({ result, error }, model) {
  const cost = [estimate(model.count) + " (bytes / 4, an estimate)"];
  if (model.others > 0) cost.push("without " + model.others + " that are not text");
  if (model.left > 0) cost.push(model.left + (model.left === 1 ? " block is" : " blocks are") + " for people only");
  const structured = result?.structuredContent;
  return make(
    "section",
    { class: "panel seen", "aria-label": "What the model sees" },
    make("h3", {}, "What the model sees"),
    make("p", { class: "quiet cost" }, cost.join("; ")),
    ...(result ? model.nodes : [make("pre", { class: "model", tabindex: "0" }, asText(error?.message ?? "Nothing."))]),
    structured === undefined
      ? null
      : make(
          "details",
          { class: "structured" },
          make("summary", {}, "structuredContent, which some clients pass on instead: " + estimate(tokens(JSON.stringify(structured)))),
          make("pre", { tabindex: "0" }, JSON.stringify(structured, null, 2)),
        ),
  );
}

function messagesNode(sent, status, message) {
  const received = make("pre", { class: "received", tabindex: "0" }, JSON.stringify(message, null, 2));
  const told = make("span", { class: "quiet", role: "status" });
  return make(
    "details",
    { class: "panel wide raw" },
    make("summary", {}, "Messages"),
    make("h3", {}, "Request"),
    make("pre", { class: "sent", tabindex: "0" }, JSON.stringify(sent, null, 2)),
    make("h3", {}, "Response, HTTP " + status),
    make(
      "div",
      { class: "buttons" },
      button("Copy the response", () => void copied(received.textContent, received, told)),
      told,
    ),
    received,
  );
}
