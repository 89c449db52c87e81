// Charts: what this page can draw of an ECharts option, as SVG. Bars, lines, points, pies and gauges; anything else is shown as its source.

const WIDTH = 480;
const HEIGHT = 260;
const EDGE = { left: 64, right: 16, top: 12, bottom: 44 };
const MOST_POINTS = 2000;
const MOST_SERIES = 40;
const COLOURS = 6;

const colour = (index) => index % COLOURS;

// Greater numbers are not drawn: their differences may be none.
const GREATEST = 1e100;

function numberOf(value) {
  const number = isObject(value) ? value.value : value;
  const read = typeof number === "string" && number.trim() !== "" ? Number(number) : number;
  return typeof read === "number" && Math.abs(read) <= GREATEST ? read : NaN;
}

// The series of an option. One without data of its own has the rows of the data set: of each the columns that `encode` names,
// and without it the first column and the next one.
function seriesOf(option) {
  const series = [option.series].flat().filter(isObject);
  const { source, dimensions } = [option.dataset].flat().find(isObject) ?? {};
  if (!Array.isArray(source) || !source.every(isObject)) return series;
  const columns = (Array.isArray(dimensions) ? dimensions : Object.keys(source[0] ?? {})).map((column) =>
    isObject(column) ? column.name : column,
  );
  const lies = [option.yAxis].flat()[0]?.type === "category";
  return series.map((one, index) => {
    if (one.data !== undefined) return one;
    const of = (name, place) => [isObject(one.encode) ? one.encode[name] : undefined].flat()[0] ?? columns[place];
    if (one.type === "pie") {
      const [name, value] = [of("itemName", 0), of("value", 1)];
      return { ...one, data: source.map((row) => ({ name: row[name], value: row[value] })) };
    }
    const [at, value] = [of(lies ? "y" : "x", 0), of(lies ? "x" : "y", index + 1)];
    return { ...one, name: one.name ?? value, data: source.map((row) => [row[at], row[value]]) };
  });
}

// The drawing of an option; `undefined` where it has anything that is not drawn here.
function chart(option) {
  if (!isObject(option)) return undefined;
  const series = seriesOf(option);
  const kinds = new Set(series.map(({ type }) => type));
  const points = series.reduce((count, { data }) => count + (Array.isArray(data) ? data.length : NaN), 0);
  if (series.length === 0 || series.length > MOST_SERIES || !(points <= MOST_POINTS)) return undefined;
  const title = [option.title].flat().find(isObject)?.text;
  let drawing;
  if (kinds.size === 1 && kinds.has("pie")) drawing = pie(series[0]);
  else if (kinds.size === 1 && kinds.has("gauge")) drawing = gauge(series[0]);
  else if ([...kinds].every((kind) => ["bar", "line", "scatter"].includes(kind))) drawing = axes(option, series);
  if (!drawing) return undefined;
  const names = drawing.legend.map((name, index) => make("span", {}, swatch(index), " " + name + " "));
  return make(
    "figure",
    { class: "chart" },
    title ? make("figcaption", {}, asText(title)) : null,
    shape("svg", { viewBox: "0 0 " + WIDTH + " " + HEIGHT, role: "img", "aria-label": asText(title ?? "Chart") }, ...drawing.shapes),
    names.length > 0 ? make("p", { class: "quiet legend" }, ...names) : null,
  );
}

const swatch = (index) =>
  shape(
    "svg",
    { class: "swatch", width: 10, height: 10, viewBox: "0 0 10 10" },
    shape("rect", { width: 10, height: 10, class: "fill-" + colour(index) }),
  );

const label = (x, y, text, anchor = "middle") => shape("text", { x, y, "text-anchor": anchor }, text);

const hint = (text) => shape("title", {}, text);

const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

// Round numbers that reach from the least to the greatest.
function scale(least, greatest) {
  const low = Math.min(0, least);
  const high = Math.max(0, greatest);
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((width) => span / width <= 5) ?? span;
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return { low: first * step, high: last * step, ticks: Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step) };
}

const figure = (value) =>
  Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toPrecision(3) : String(Number(value.toFixed(4)));

function axes(option, series) {
  const xAxis = [option.xAxis].flat()[0] ?? {};
  const yAxis = [option.yAxis].flat()[0] ?? {};
  // With the categories on the vertical axis, bars lie.
  const lies = yAxis.type === "category" || Array.isArray(yAxis.data);
  const axis = lies ? yAxis : xAxis;
  if (axis.data !== undefined && !(Array.isArray(axis.data) && axis.data.length <= MOST_POINTS)) return undefined;
  if (lies && series.some(({ type }) => type !== "bar")) return undefined;
  const rows = series.map(({ data }) =>
    data.map((point, index) => {
      const pair = isObject(point) ? point.value : point;
      return Array.isArray(pair) ? { at: pair[0], value: numberOf(pair[1]) } : { at: axis.data?.[index] ?? index, value: numberOf(point) };
    }),
  );
  const all = rows.flat();
  if (all.length === 0) return undefined;
  const isNumeric =
    !Array.isArray(axis.data) && axis.type !== "category" && all.every(({ at }) => Number.isFinite(numberOf(at)) && typeof at === "number");
  const categories = isNumeric
    ? []
    : [
        ...new Set([
          ...(axis.data ?? []).map((name) => asText(isObject(name) ? name.value : name)),
          ...all.map(({ at }) => asText(at ?? "")),
        ]),
      ];
  const isStacked = series.every(({ type, stack }) => type === "bar" && stack !== undefined) && series.length > 1;
  const place = (row) => (isNumeric ? row.at : categories.indexOf(asText(row.at ?? "")));
  const sums = new Map();
  if (isStacked) for (const row of all) sums.set(place(row), (sums.get(place(row)) ?? 0) + (row.value || 0));
  const finite = (isStacked ? [...sums.values()] : all.map(({ value }) => value)).filter(Number.isFinite);
  if (finite.length === 0 || (isStacked && all.some(({ value }) => value < 0))) return undefined;
  const values = scale(Math.min(...finite), Math.max(...finite));
  const along = isNumeric ? scale(Math.min(...all.map(({ at }) => at)), Math.max(...all.map(({ at }) => at))) : undefined;
  const inner = { width: WIDTH - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom };
  const length = lies ? inner.height : inner.width;
  const slot = isNumeric ? length / Math.max(1, all.length) : length / Math.max(1, categories.length);
  const position = (row) => (isNumeric ? ((row.at - along.low) / (along.high - along.low)) * length : (place(row) + 0.5) * slot);
  const height = (value) => ((value - values.low) / (values.high - values.low)) * (lies ? inner.width : inner.height);
  const shapes = [];
  for (const tick of values.ticks) {
    const at = height(tick);
    if (lies)
      shapes.push(
        shape("path", { class: "axis", d: `M${EDGE.left + at} ${EDGE.top}V${EDGE.top + inner.height}` }),
        label(EDGE.left + at, HEIGHT - 24, figure(tick)),
      );
    else
      shapes.push(
        shape("path", { class: "axis", d: `M${EDGE.left} ${EDGE.top + inner.height - at}H${WIDTH - EDGE.right}` }),
        label(EDGE.left - 6, EDGE.top + inner.height - at + 4, figure(tick), "end"),
      );
  }
  // No more names than fit.
  const every = Math.max(1, Math.ceil(categories.length / (lies ? 12 : 10)));
  categories.forEach((name, index) => {
    if (index % every !== 0) return;
    const at = (index + 0.5) * slot;
    shapes.push(
      lies
        ? label(EDGE.left - 6, EDGE.top + at + 4, short(name, 9), "end")
        : label(EDGE.left + at, HEIGHT - 24, short(name, Math.max(4, Math.floor((slot * every) / 7)))),
    );
  });
  if (isNumeric)
    for (const tick of along.ticks)
      shapes.push(label(EDGE.left + ((tick - along.low) / (along.high - along.low)) * length, HEIGHT - 24, figure(tick)));
  const bars = series.filter(({ type }) => type === "bar").length;
  const stackedTo = new Map();
  let bar = 0;
  series.forEach(({ type, name }, index) => {
    const own = rows[index].filter(({ value }) => Number.isFinite(value));
    const says = (row) =>
      hint(
        [name, isNumeric ? figure(row.at) : asText(row.at ?? ""), figure(row.value)]
          .filter((part) => part !== undefined && part !== "")
          .map(asText)
          .join(": "),
      );
    const point = (row) => [EDGE.left + position(row), EDGE.top + inner.height - height(row.value)];
    if (type === "bar") {
      const width = Math.max(1, (slot * 0.8) / (isStacked ? 1 : bars));
      for (const row of own) {
        const from = isStacked ? (stackedTo.get(place(row)) ?? 0) : 0;
        stackedTo.set(place(row), from + row.value);
        const [low, high] = [height(Math.min(from, from + row.value)), height(Math.max(from, from + row.value))];
        const at = position(row) - slot * 0.4 + (isStacked ? 0 : bar * width);
        const box = lies
          ? { x: EDGE.left + low, y: EDGE.top + at, width: Math.max(0.5, high - low), height: width }
          : { x: EDGE.left + at, y: EDGE.top + inner.height - high, width, height: Math.max(0.5, high - low) };
        shapes.push(shape("rect", { ...box, class: "fill-" + colour(index) }, says(row)));
      }
      bar += 1;
    } else {
      if (type === "line" && own.length > 1)
        shapes.push(shape("polyline", { points: own.map((row) => point(row).join(",")).join(" "), class: "line stroke-" + colour(index) }));
      for (const row of own)
        shapes.push(
          shape("circle", { cx: point(row)[0], cy: point(row)[1], r: type === "line" ? 3 : 4, class: "fill-" + colour(index) }, says(row)),
        );
    }
  });
  return {
    shapes,
    legend: series.length > 1 || series[0].name ? series.map(({ name }, index) => asText(name ?? "Series " + (index + 1))) : [],
  };
}

const arc = (x, y, radius, from, to) => {
  const end = (turn) =>
    [x + radius * Math.sin(turn * 2 * Math.PI), y - radius * Math.cos(turn * 2 * Math.PI)].map((number) => number.toFixed(2)).join(" ");
  return { start: end(from), d: `A${radius} ${radius} 0 ${to - from > 0.5 ? 1 : 0} 1 ${end(to)}` };
};

function pie({ data }) {
  const slices = data.map((slice, index) => ({
    name: isObject(slice) ? asText(slice.name ?? index) : String(index),
    value: numberOf(slice),
  }));
  const total = slices.reduce((sum, { value }) => sum + value, 0);
  if (!(total > 0) || slices.some(({ value }) => !(value >= 0))) return undefined;
  let from = 0;
  const shapes = slices
    .filter(({ value }) => value > 0)
    .map(({ name, value }) => {
      const index = slices.findIndex((slice) => slice.name === name);
      const to = Math.min(from + value / total, from + 0.99999);
      const { start, d } = arc(WIDTH / 2, HEIGHT / 2, HEIGHT / 2 - 14, from, to);
      from += value / total;
      return shape(
        "path",
        { d: `M${WIDTH / 2} ${HEIGHT / 2}L${start}${d}Z`, class: "fill-" + colour(index) },
        hint(name + ": " + figure(value) + " (" + ((value / total) * 100).toFixed(1) + " %)"),
      );
    });
  return { shapes, legend: slices.map(({ name, value }) => name + " " + ((value / total) * 100).toFixed(1) + " %") };
}

function gauge({ data, min = 0, max = 100 }) {
  const value = numberOf(data[0]);
  if (!Number.isFinite(value) || !(max > min)) return undefined;
  const part = Math.min(1, Math.max(0, (value - min) / (max - min)));
  const dial = (to, name) => {
    const { start, d } = arc(WIDTH / 2, 180, 140, -0.3, -0.3 + 0.6 * to);
    return shape("path", { d: "M" + start + d, class: name, "stroke-width": 22, fill: "none" });
  };
  const name = isObject(data[0]) && data[0].name !== undefined ? asText(data[0].name) : undefined;
  return {
    shapes: [
      dial(1, "axis"),
      part > 0 ? dial(part, "stroke-0") : null,
      label(WIDTH / 2, 185, figure(value)),
      name ? label(WIDTH / 2, 210, name) : null,
    ],
    legend: [],
  };
}
