// Charts: what this page can draw of an ECharts option, as SVG. Bars, lines, points, pies and gauges; anything else is shown as its source.

const WIDTH = 560;
const HEIGHT = 280;
const MOST_POINTS = 2000;
const MOST_SERIES = 40;

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

const KINDS = { bar: "Bars", line: "Lines", scatter: "Points", pie: "Pie", gauge: "Gauge" };

// What a drawing without a title is called.
function nameOf(kinds, series) {
  const kind = [...kinds].map((one) => KINDS[one] ?? "Chart").join(" and ");
  const names = series.map(({ name }) => name).filter((name) => typeof name === "string" && name !== "");
  return names.length > 0 ? kind + ": " + short(names.join(", "), 80) : kind;
}

// The drawing of an option; `undefined` where it has anything that is not drawn here. `given` is the title of the block.
function chart(option, given) {
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
  const said = asText(title ?? given ?? nameOf(kinds, series));
  return withTips(
    make(
      "figure",
      { class: "chart" },
      title ? make("figcaption", {}, asText(title)) : null,
      shape("svg", { viewBox: "0 0 " + WIDTH + " " + HEIGHT, role: "img", "aria-label": said }, ...drawing.shapes.filter(Boolean)),
      names.length > 0 ? make("p", { class: "quiet legend" }, ...names) : null,
    ),
  );
}
