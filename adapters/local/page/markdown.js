// Markdown as elements: headings, paragraphs, lists, quotes, fences, tables, links, emphasis. HTML in it is text; no picture is fetched.

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
// Deeper than this, and in longer texts, markup stays text.
const NESTING = 8;
const LONGEST_INLINE = 5000;

function markdown(text, depth = 0) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const made = make("div", { class: "markdown" });
  let at = 0;
  const isTable = () =>
    at + 1 < lines.length && lines[at].includes("|") && DIVIDER.test(lines[at + 1].trim()) && lines[at + 1].includes("-");
  while (at < lines.length) {
    const line = lines[at];
    const fence = line.match(FENCE);
    const heading = line.match(/^ {0,3}(#{1,6})\s+(.*?)\s*#*$/);
    if (line.trim() === "") at += 1;
    else if (fence) {
      const body = [];
      for (at += 1; at < lines.length && !closes(lines[at], fence[1]); at += 1) body.push(lines[at]);
      at += 1;
      made.append(code(fence[2].trim(), body.join("\n")));
    } else if (heading) {
      made.append(make("h" + Math.min(6, heading[1].length + 2), {}, ...inline(heading[2])));
      at += 1;
    } else if (RULE.test(line)) {
      made.append(make("hr"));
      at += 1;
    } else if (line.startsWith(">") && depth < NESTING) {
      const body = [];
      for (; at < lines.length && lines[at].startsWith(">"); at += 1) body.push(lines[at].replace(/^> ?/, ""));
      made.append(make("blockquote", {}, markdown(body.join("\n"), depth + 1)));
    } else if (isTable()) {
      const head = cells(line);
      const rows = [];
      for (at += 2; at < lines.length && lines[at].includes("|"); at += 1) rows.push(cells(lines[at]));
      made.append(
        grid(
          head.map((cell) => inline(cell)),
          rows.map((row) => head.map((_, index) => inline(row[index] ?? ""))),
        ),
      );
    } else if (ITEM.test(line)) {
      const body = [];
      for (; at < lines.length && (ITEM.test(lines[at]) || /^\s+\S/.test(lines[at])); at += 1) body.push(lines[at]);
      made.append(list(body, depth));
    } else {
      const body = [line];
      for (
        at += 1;
        at < lines.length &&
        lines[at].trim() !== "" &&
        !FENCE.test(lines[at]) &&
        !ITEM.test(lines[at]) &&
        !/^( {0,3}#{1,6}\s|>)/.test(lines[at]);
        at += 1
      )
        body.push(lines[at]);
      made.append(make("p", {}, ...inline(body.join("\n"))));
    }
  }
  return made;
}

const closes = (line, fence) => line.trim().startsWith(fence) && [...line.trim()].every((character) => character === fence[0]);

function list(lines, depth) {
  const [, indent, number] = lines[0].match(ITEM);
  const made = make(number === undefined ? "ul" : "ol", number === undefined ? {} : { start: number });
  const items = [];
  for (const line of lines) {
    const item = line.match(ITEM);
    if (item && item[1].length <= indent.length) items.push([item[3]]);
    else items.at(-1).push(line.slice(Math.min(line.length - line.trimStart().length, indent.length + 2)));
  }
  for (const [first, ...rest] of items) {
    const item = make("li", {}, ...inline(first));
    if (rest.length > 0) item.append(depth < NESTING ? markdown(rest.join("\n"), depth + 1) : rest.join("\n"));
    made.append(item);
  }
  return made;
}

// The cells of a line. `\|` is a `|` of its cell.
function cells(line) {
  const found = [""];
  const text = line
    .trim()
    .replace(/^\|/, "")
    .replace(/\|$/, (end, place, whole) => (whole[place - 1] === "\\" ? end : ""));
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\" && (text[at + 1] === "|" || text[at + 1] === "\\")) found[found.length - 1] += text[at] + text[++at];
    else if (text[at] === "|") found.push("");
    else found[found.length - 1] += text[at];
  }
  return found.map((cell) => cell.trim());
}

const SPAN =
  /\\([\\`*_{}[\]()#+\-.!|<>~])|(`+)([\s\S]*?[^`])\2(?!`)|(!?)\[([^\]]*)\]\(\s*<?([^\s)>]*)>?[^)]*\)|(\*\*|__)(?=\S)([\s\S]*?\S)\7|([*_])(?=\S)([\s\S]*?\S)\9(?!\w)|~~(?=\S)([\s\S]*?\S)~~|<br\s*\/?>|(https?:\/\/[^\s<>()]+[^\s<>().,;:!?'"])/;

// The parts of a text: elements and texts.
function inline(text, depth = 0) {
  const parts = [];
  let rest = text;
  while (rest !== "") {
    const found = depth < NESTING && rest.length <= LONGEST_INLINE ? rest.match(SPAN) : null;
    if (!found) {
      parts.push(rest);
      break;
    }
    if (found.index > 0) parts.push(rest.slice(0, found.index));
    const [whole, escaped, , verbatim, isPicture, label, target, , strong, , emphasis, struck, address] = found;
    const inner = (of) => inline(of, depth + 1);
    if (escaped !== undefined) parts.push(escaped);
    else if (verbatim !== undefined) parts.push(make("code", {}, verbatim.trim()));
    else if (label !== undefined) parts.push(link(target, ...(isPicture ? ["Picture: " + (label || target)] : inner(label || target))));
    else if (strong !== undefined) parts.push(make("strong", {}, ...inner(strong)));
    else if (emphasis !== undefined) parts.push(make("em", {}, ...inner(emphasis)));
    else if (struck !== undefined) parts.push(make("s", {}, ...inner(struck)));
    else if (address !== undefined) parts.push(link(address, address));
    else parts.push(make("br"));
    rest = rest.slice(found.index + whole.length);
  }
  return parts;
}

function code(language, text) {
  return make("div", { class: "code" }, language ? make("p", { class: "audience" }, language) : null, verbatim(make("code", {}, text)));
}

// A table: cells are lists of nodes and texts.
function grid(head, rows) {
  const row = (name, of) => make("tr", {}, ...of.map((cell) => make(name, {}, ...cell)));
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" },
    make("table", {}, make("thead", {}, row("th", head)), make("tbody", {}, ...rows.map((cellsOf) => row("td", cellsOf)))),
  );
}
