// Charts without axes: pies and gauges.

// More slices than this cannot be told apart: the least are one.
const MOST_SLICES = 12;

const arc = (x, y, radius, from, to) => {
  const end = (turn) =>
    [x + radius * Math.sin(turn * 2 * Math.PI), y - radius * Math.cos(turn * 2 * Math.PI)].map((number) => number.toFixed(2)).join(" ");
  return { start: end(from), d: `A${radius} ${radius} 0 ${to - from > 0.5 ? 1 : 0} 1 ${end(to)}` };
};

const share = (value, total) => ((value / total) * 100).toFixed(1) + " %";

function slicesOf(data) {
  const slices = data.map((slice, index) => ({
    name: isObject(slice) ? asText(slice.name ?? index + 1) : "Slice " + (index + 1),
    value: numberOf(slice),
  }));
  if (slices.length <= MOST_SLICES) return slices;
  const ranked = slices.map(({ value }) => value).sort((a, b) => b - a);
  const least = ranked[MOST_SLICES - 2];
  const kept = slices.filter(({ value }) => value >= least).slice(0, MOST_SLICES - 1);
  const others = slices.filter((slice) => !kept.includes(slice));
  return [...kept, { name: others.length + " others", value: others.reduce((sum, { value }) => sum + value, 0) }];
}

function pie({ data }) {
  const slices = slicesOf(data);
  const total = slices.reduce((sum, { value }) => sum + value, 0);
  if (!(total > 0) || slices.some(({ value }) => !(value >= 0))) return undefined;
  let from = 0;
  const shapes = slices.map(({ name, value }, index) => {
    if (value === 0) return undefined;
    const to = Math.min(from + value / total, from + 0.99999);
    const { start, d } = arc(WIDTH / 2, HEIGHT / 2, HEIGHT / 2 - 14, from, to);
    from += value / total;
    const slice = shape("path", { d: `M${WIDTH / 2} ${HEIGHT / 2}L${start}${d}Z`, class: "slice" });
    return says(paint(slice, index), name + ": " + figure(value) + " (" + share(value, total) + ")");
  });
  return { shapes, legend: slices.map(({ name, value }) => name + " " + share(value, total)) };
}

function gauge({ data, min = 0, max = 100 }) {
  const value = numberOf(data[0]);
  if (!Number.isFinite(value) || !(max > min)) return undefined;
  const part = Math.min(1, Math.max(0, (value - min) / (max - min)));
  const dial = (to, name) => {
    const { start, d } = arc(WIDTH / 2, 190, 150, -0.3, -0.3 + 0.6 * to);
    return shape("path", { d: "M" + start + d, class: name, "stroke-width": 22, fill: "none" });
  };
  const name = isObject(data[0]) && data[0].name !== undefined ? asText(data[0].name) : undefined;
  return {
    shapes: [
      dial(1, "axis"),
      part > 0 ? says(dial(part, "stroke-0"), figure(value)) : undefined,
      label(WIDTH / 2, 195, figure(value)),
      name ? label(WIDTH / 2, 220, name) : undefined,
    ],
    legend: [],
  };
}
