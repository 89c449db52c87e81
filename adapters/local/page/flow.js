// Flow charts: what this page can draw of Mermaid, as SVG. `graph` and `flowchart` with plain nodes and edges; anything else is
// shown as its source.

const NODE =
  /^\s*([\p{L}\p{N}_][\p{L}\p{N}_.-]*?)(?=\s|$|[[({>]|-[-.]|==|;)(?:(\(\[|\[\[|\[\(|\(\(|\{\{|\[|\(|\{|>)\s*("[^"]*"|[^\])}]*)\s*(\]\)|\]\]|\)\]|\)\)|\}\}|\]|\)|\}))?/u;
const EDGE_MARK = /^\s*(?:(-->|---|-\.->|==>|--x|--o)(?:\|([^|]*)\|)?|(?:--|-\.|==)\s+([^-|=.]+?)\s+(-->|---|\.->|==>))/;
const IGNORED = /^\s*(%%|classDef |class |style |linkStyle |click |$)/;
const MOST_NODES = 60;
const LONGEST_FLOW = 20000;
const BOX = { height: 34, gapAcross: 26, gapAlong: 56, perLetter: 7.2, most: 34 };

// Nodes and edges; `undefined` where a line is not understood.
function flow(text, title) {
  if (text.length > LONGEST_FLOW) return undefined;
  const lines = text.split(/\n|;/);
  const first = lines.findIndex((line) => !IGNORED.test(line));
  const direction = lines[first]?.match(/^\s*(?:graph|flowchart)\s+(TB|TD|BT|LR|RL)\s*$/)?.[1];
  if (!direction) return undefined;
  const nodes = new Map();
  const edges = [];
  for (const line of lines.slice(first + 1)) {
    if (IGNORED.test(line)) continue;
    let rest = line;
    let from;
    let edge;
    do {
      const node = rest.match(NODE);
      if (!node) return undefined;
      const [whole, id, , said] = node;
      const text = said
        ?.trim()
        .replace(/^"(.*)"$/, "$1")
        .replace(/<br\s*\/?>/g, " ");
      if (text !== undefined || !nodes.has(id)) nodes.set(id, { text: text ?? nodes.get(id)?.text ?? id, isQuestion: node[2] === "{" });
      if (edge) edges.push({ ...edge, from, to: id });
      rest = rest.slice(whole.length);
      from = id;
      const mark = rest.match(EDGE_MARK);
      edge = mark && { kind: mark[1] ?? mark[4], text: (mark[2] ?? mark[3] ?? "").trim() };
      if (mark) rest = rest.slice(mark[0].length);
    } while (edge);
    if (rest.trim() !== "") return undefined;
  }
  return nodes.size > 0 && nodes.size <= MOST_NODES ? drawn(direction, nodes, edges, title) : undefined;
}

function drawn(direction, nodes, edges, title) {
  // A node stands one rank after the last that leads to it.
  const rank = new Map([...nodes.keys()].map((id) => [id, 0]));
  const forward = withoutCircles(nodes, edges);
  for (let round = 0; round < nodes.size; round += 1) {
    let moved = false;
    for (const { from, to } of forward) {
      if (rank.get(to) <= rank.get(from)) {
        rank.set(to, rank.get(from) + 1);
        moved = true;
      }
    }
    if (!moved) break;
  }
  const isAcross = direction === "LR" || direction === "RL";
  const width = (id) => Math.max(48, Math.min(nodes.get(id).text.length, BOX.most) * BOX.perLetter + 22);
  const ranks = [];
  for (const id of nodes.keys()) (ranks[rank.get(id)] ??= []).push(id);
  const places = new Map();
  let along = 10;
  let across = 0;
  for (const ids of ranks.filter(Boolean)) {
    const thick = isAcross ? Math.max(...ids.map(width)) : BOX.height;
    let at = 10;
    for (const id of ids) {
      const size = isAcross ? BOX.height : width(id);
      places.set(id, isAcross ? { x: along + thick / 2, y: at + size / 2 } : { x: at + size / 2, y: along + thick / 2 });
      at += size + BOX.gapAcross;
    }
    across = Math.max(across, at - BOX.gapAcross);
    along += thick + BOX.gapAlong;
  }
  const total = { width: (isAcross ? along - BOX.gapAlong : across) + 10, height: (isAcross ? across : along - BOX.gapAlong) + 10 };
  // Each rank in the middle; and turned, where the chart runs backwards.
  for (const ids of ranks.filter(Boolean)) {
    const ends = ids.map((id) => (isAcross ? places.get(id).y + BOX.height / 2 : places.get(id).x + width(id) / 2));
    const shift = (across - Math.max(...ends)) / 2;
    for (const id of ids) {
      const place = places.get(id);
      if (isAcross) place.y += shift;
      else place.x += shift;
      if (direction === "RL") place.x = total.width - place.x;
      if (direction === "BT") place.y = total.height - place.y;
    }
  }
  const shapes = edges.flatMap(({ from, to, kind, text }) => {
    const [a, b] = [places.get(from), places.get(to)];
    const edgeOf = (place, id, toward) => {
      const [dx, dy] = [toward.x - place.x, toward.y - place.y];
      const reach = Math.min(1, 1 / Math.max(Math.abs(dx) / (width(id) / 2), Math.abs(dy) / (BOX.height / 2), 1e-6));
      return { x: place.x + dx * reach, y: place.y + dy * reach };
    };
    const [start, end] = [edgeOf(a, from, b), edgeOf(b, to, a)];
    const line = shape("path", { d: `M${start.x} ${start.y}L${end.x} ${end.y}`, class: kind.includes(".") ? "edge dotted" : "edge" });
    const turn = (Math.atan2(end.y - start.y, end.x - start.x) * 180) / Math.PI;
    const tip = kind.includes(">")
      ? [shape("path", { d: "M0 0L-9 -4L-9 4Z", class: "tip", transform: `translate(${end.x} ${end.y}) rotate(${turn})` })]
      : [];
    return [line, ...tip, ...(text ? [label((start.x + end.x) / 2, (start.y + end.y) / 2 - 4, short(text, 24))] : [])];
  });
  for (const [id, { text, isQuestion }] of nodes) {
    const { x, y } = places.get(id);
    const box = {
      x: x - width(id) / 2,
      y: y - BOX.height / 2,
      width: width(id),
      height: BOX.height,
      rx: isQuestion ? BOX.height / 2 : 5,
      class: "box",
    };
    shapes.push(shape("rect", box, hint(text)), label(x, y + 4, short(text, BOX.most)));
  }
  const size = { viewBox: `0 0 ${total.width} ${total.height}`, width: total.width, height: total.height };
  return make(
    "figure",
    { class: "chart" },
    shape(
      "svg",
      { ...size, role: "img", "aria-label": title ?? "Flow chart: " + short([...nodes.values()].map(({ text }) => text).join(", "), 80) },
      ...shapes,
    ),
  );
}

// The edges without those that close a circle.
function withoutCircles(nodes, edges) {
  const state = new Map();
  const kept = [];
  const visit = (id) => {
    state.set(id, "open");
    for (const edge of edges.filter(({ from }) => from === id)) {
      if (state.get(edge.to) === "open") continue;
      kept.push(edge);
      if (!state.has(edge.to)) visit(edge.to);
    }
    state.set(id, "done");
  };
  for (const id of nodes.keys()) if (!state.has(id)) visit(id);
  return kept;
}
