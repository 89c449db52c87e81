// Charts with two axes: bars, lines and points, over categories or over numbers.

const EDGE = { right: 16, top: 26, bottom: 30 };
const LOWEST_LABEL = HEIGHT - 10;

// What an axis says of itself: its name, and how its numbers are written where the option says it: `{value} EUR`.
function axisWords(axis) {
  const pattern = isObject(axis.axisLabel) && typeof axis.axisLabel.formatter === "string" ? axis.axisLabel.formatter : undefined;
  const isPattern = pattern?.includes("{value}") && pattern.length < 40;
  return {
    name: axis.name === undefined ? undefined : short(asText(axis.name), 40),
    around: isPattern ? pattern.split("{value}") : ["", ""],
  };
}

// The values of all series by place.
function rowsOf(series, axis) {
  return series.map(({ data }) =>
    data.map((point, index) => {
      const pair = isObject(point) ? point.value : point;
      return Array.isArray(pair) ? { at: pair[0], value: numberOf(pair[1]) } : { at: axis.data?.[index] ?? index, value: numberOf(point) };
    }),
  );
}

const categoryOf = (at) => asText((isObject(at) ? at.value : at) ?? "");

// Everything that a drawing is computed from; `undefined` where it cannot be drawn.
function planOf(option, series) {
  const xAxis = [option.xAxis].flat().find(isObject) ?? {};
  const yAxis = [option.yAxis].flat().find(isObject) ?? {};
  // With the categories on the vertical axis, bars lie.
  const lies = yAxis.type === "category" || Array.isArray(yAxis.data);
  const [axis, other] = lies ? [yAxis, xAxis] : [xAxis, yAxis];
  if (axis.data !== undefined && !(Array.isArray(axis.data) && axis.data.length <= MOST_POINTS)) return undefined;
  if (lies && series.some(({ type }) => type !== "bar")) return undefined;
  const rows = rowsOf(series, axis);
  const all = rows.flat();
  if (all.length === 0) return undefined;
  const isNumeric =
    !Array.isArray(axis.data) && axis.type !== "category" && all.every(({ at }) => typeof at === "number" && Number.isFinite(numberOf(at)));
  const categories = isNumeric ? [] : [...new Set([...(axis.data ?? []), ...all.map(({ at }) => at)].map(categoryOf))];
  const isStacked = series.every(({ type, stack }) => type === "bar" && stack !== undefined) && series.length > 1;
  const indexOf = new Map(categories.map((name, index) => [name, index]));
  const place = (row) => (isNumeric ? row.at : indexOf.get(categoryOf(row.at)));
  const sums = new Map();
  if (isStacked) for (const row of all) sums.set(place(row), (sums.get(place(row)) ?? 0) + (row.value || 0));
  const finite = (isStacked ? [...sums.values()] : all.map(({ value }) => value)).filter(Number.isFinite);
  if (finite.length === 0 || (isStacked && all.some(({ value }) => value < 0))) return undefined;
  const values = scale(Math.min(...finite), Math.max(...finite));
  const places = all.map(({ at }) => at);
  const along = isNumeric ? scale(Math.min(...places), Math.max(...places), true) : undefined;
  return { lies, axis, other, rows, all, isNumeric, categories, isStacked, place, values, along };
}

function axes(option, series) {
  const plan = planOf(option, series);
  if (!plan) return undefined;
  const { lies, isNumeric, categories, values, along, axis, other } = plan;
  const [own, across] = [axisWords(axis), axisWords(other)];
  const figures = axisFigures(values.ticks);
  const valueText = (tick) => across.around[0] + figures(tick) + across.around[1];
  const longest = (texts) => Math.max(0, ...texts.map(widthOf));
  const left = Math.min(WIDTH / 3, 14 + (lies ? longest(categories.map((name) => short(name, 20))) : longest(values.ticks.map(valueText))));
  const inner = { left, width: WIDTH - left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom };
  const length = lies ? inner.height : inner.width;
  const slot = length / Math.max(1, isNumeric ? plan.all.length : categories.length);
  const geometry = {
    ...plan,
    inner,
    slot,
    position: (row) => (isNumeric ? ((row.at - along.low) / (along.high - along.low)) * length : (plan.place(row) + 0.5) * slot),
    height: (value) => ((value - values.low) / (values.high - values.low)) * (lies ? inner.width : inner.height),
    valueText: (value) => across.around[0] + figure(value) + across.around[1],
  };
  const names = [
    across.name && (lies ? label(WIDTH - EDGE.right, 14, across.name, "end") : label(4, 14, across.name, "start")),
    own.name && (lies ? label(4, 14, own.name, "start") : label(WIDTH - EDGE.right, 14, own.name, "end")),
  ];
  const marks = series.flatMap((one, index) => (one.type === "bar" ? barsOf(geometry, series, index) : pointsOf(geometry, one, index)));
  return {
    shapes: [...names, ...valueLines(geometry, valueText), ...placeLabels(geometry, own), ...marks],
    legend: series.length > 1 || series[0].name ? series.map(({ name }, index) => asText(name ?? "Series " + (index + 1))) : [],
  };
}

// The lines of the round values, and their numbers.
function valueLines({ values, lies, inner, height }, text) {
  return values.ticks.flatMap((tick) => {
    const at = height(tick);
    const name = tick === 0 ? "axis zero" : "axis";
    if (lies)
      return [
        shape("path", { class: name, d: `M${inner.left + at} ${EDGE.top}V${EDGE.top + inner.height}` }),
        label(inner.left + at, LOWEST_LABEL, text(tick)),
      ];
    const y = EDGE.top + inner.height - at;
    return [
      shape("path", { class: name, d: `M${inner.left} ${y}H${WIDTH - EDGE.right}` }),
      label(inner.left - 6, y + 4, text(tick), "end"),
    ];
  });
}

// The names of the places: as many as fit without touching.
function placeLabels({ isNumeric, categories, along, lies, inner, slot }, own) {
  if (isNumeric) {
    const figures = axisFigures(along.ticks);
    const at = (tick) => inner.left + ((tick - along.low) / (along.high - along.low)) * inner.width;
    return along.ticks.map((tick) => label(at(tick), LOWEST_LABEL, own.around[0] + figures(tick) + own.around[1]));
  }
  const named = categories.map((name) => short(own.around[0] + name + own.around[1], lies ? 20 : 18));
  const room = lies ? 16 : Math.max(...named.map(widthOf)) + 12;
  const every = Math.max(1, Math.ceil(room / slot));
  return named.map((name, index) => {
    if (index % every !== 0) return undefined;
    const at = (index + 0.5) * slot;
    if (lies) return label(inner.left - 6, EDGE.top + at + 4, name, "end");
    // The last one does not stick out.
    const half = widthOf(name) / 2;
    const x = Math.min(Math.max(inner.left + at, half + 2), WIDTH - half - 2);
    return says(label(x, LOWEST_LABEL, name), categories[index]);
  });
}

const tipOf = (geometry, name, row) =>
  [name, geometry.isNumeric ? figure(row.at) : categoryOf(row.at), geometry.valueText(row.value)]
    .filter((part) => part !== undefined && part !== "")
    .map(asText)
    .join(": ");

function barsOf(geometry, series, index) {
  const { rows, lies, isStacked, slot, inner, position, height, place } = geometry;
  const bars = series.filter(({ type }) => type === "bar");
  const bar = bars.indexOf(series[index]);
  const width = Math.max(1, (slot * 0.8) / (isStacked ? 1 : bars.length));
  // The same place may come twice in a series.
  const own = new Map();
  return rows[index]
    .filter(({ value }) => Number.isFinite(value))
    .map((row) => {
      const key = place(row);
      const below = isStacked ? rows.slice(0, index).flat() : [];
      const from = isStacked
        ? (own.get(key) ?? below.filter((other) => place(other) === key).reduce((sum, { value }) => sum + (value || 0), 0))
        : 0;
      own.set(key, from + row.value);
      const [low, high] = [height(Math.min(from, from + row.value)), height(Math.max(from, from + row.value))];
      const at = position(row) - slot * 0.4 + (isStacked ? 0 : bar * width);
      const box = lies
        ? { x: inner.left + low, y: EDGE.top + at, width: Math.max(0.5, high - low), height: width }
        : { x: inner.left + at, y: EDGE.top + inner.height - high, width, height: Math.max(0.5, high - low) };
      return says(paint(shape("rect", box), index), tipOf(geometry, series[index].name, row));
    });
}

function pointsOf(geometry, { type, name }, index) {
  const { rows, inner, position, height } = geometry;
  const own = rows[index].filter(({ value }) => Number.isFinite(value));
  const point = (row) => [inner.left + position(row), EDGE.top + inner.height - height(row.value)];
  const line =
    type === "line" && own.length > 1
      ? [paint(shape("polyline", { points: own.map((row) => point(row).join(",")).join(" "), class: "line" }), index, "stroke")]
      : [];
  const radius = type !== "line" ? 4 : own.length > 60 ? 1.5 : 3;
  const dots = own.map((row) =>
    says(paint(shape("circle", { cx: point(row)[0], cy: point(row)[1], r: radius }), index), tipOf(geometry, name, row)),
  );
  return [...line, ...dots];
}
