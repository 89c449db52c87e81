// Values as people read them: numbers in groups of three, the same for a whole column; dates as they are, unbroken.

const ISO_DATE = /^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/;
// Numbers that name something are no amounts.
const NAMES_SOMETHING = /(^|[_\s-])(id|no|nr|number|year|zip|postcode|code|phone)$|[a-z](Id|ID|No|Year|Zip|Code)$/i;
const MOST_DECIMALS = 10;

const decimalsOf = (number) => {
  const [, decimals = "", power] = String(number).match(/^-?\d+(?:\.(\d+))?(e.*)?$/) ?? [];
  return power === undefined ? decimals.length : MOST_DECIMALS + 1;
};

// How the values of a column are written: `{ kind, write, sortBy }`.
function formatOf(name, values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (known.length > 0 && known.every((value) => typeof value === "number")) return numbers(name, known);
  if (known.length > 0 && known.every((value) => typeof value === "string" && ISO_DATE.test(value)))
    return { kind: "date", write: (value) => value, sortBy: (value) => value };
  return { kind: "text", write: asText, sortBy: (value) => (typeof value === "number" ? value : asText(value)) };
}

function numbers(name, values) {
  const decimals = values.reduce((most, value) => Math.max(most, decimalsOf(value)), 0);
  const isPlain = decimals > MOST_DECIMALS || (NAMES_SOMETHING.test(name) && decimals === 0);
  const shape = new Intl.NumberFormat("en-US", { minimumFractionDigits: isPlain ? 0 : decimals, maximumFractionDigits: MOST_DECIMALS });
  return { kind: "number", write: (value) => (isPlain ? String(value) : shape.format(value)), sortBy: (value) => value };
}

// Less than zero where `a` comes first. What is not there comes last.
function compare(a, b) {
  if (a === undefined || a === null) return b === undefined || b === null ? 0 : 1;
  if (b === undefined || b === null) return -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return ORDER.compare(String(a), String(b));
}
const ORDER = new Intl.Collator("en", { numeric: true });

// Rows as CSV, for a spreadsheet: RFC 4180. A text that a spreadsheet would take for a formula begins with an apostrophe.
function csv(columns, rows) {
  const cell = (value) => {
    if (value === undefined || value === null) return "";
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? "'" + value : asText(value);
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return [columns, ...rows.map((row) => columns.map((name) => (Object.hasOwn(row, name) ? row[name] : undefined)))]
    .map((line) => line.map(cell).join(",") + "\r\n")
    .join("");
}

// The numbers of an axis, all in one unit: `8 M`, `2.5 k`.
const UNITS = [
  [1e12, " T"],
  [1e9, " B"],
  [1e6, " M"],
  [1e4, " k", 1e3],
];

function axisFigures(ticks) {
  const greatest = Math.max(...ticks.map(Math.abs));
  const [, word = "", own] = UNITS.find(([from]) => greatest >= from) ?? [];
  const unit = word === "" ? 1 : (own ?? UNITS.find(([, name]) => name === word)[0]);
  const isBeyond = greatest >= 1e16 || (greatest > 0 && greatest < 1e-4);
  const decimals = isBeyond
    ? 0
    : ticks.reduce((most, tick) => Math.max(most, Math.min(6, decimalsOf(Number((tick / unit).toPrecision(8))))), 0);
  const shape = new Intl.NumberFormat("en-US", isBeyond ? { notation: "scientific" } : { maximumFractionDigits: decimals });
  return (tick) => (tick === 0 ? "0" : isBeyond ? shape.format(tick) : shape.format(tick / unit) + word);
}

// A number by itself, in full.
const figure = (value) =>
  Math.abs(value) >= 1e16 || (value !== 0 && Math.abs(value) < 1e-6)
    ? value.toExponential(3)
    : new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 }).format(value);
