// Rows as a table: sorted and filtered by whoever reads it, copied, and saved as CSV. Of long tables, the rows in sight alone are elements.

const MOST_COLUMNS = 60;
// From how many cells on the rows are those in sight, each of one line.
const MANY_CELLS = 3000;
const ROW_HEIGHT = 30;
// Rows above and below those in sight.
const SPARE = 12;
// In characters.
const WIDEST = 40;
const NARROWEST = 6;
// Wider tables take the whole width of the page.
const WIDE_TABLE = 70;

const valueOf = (row, name) => (Object.hasOwn(row, name) ? row[name] : undefined);

function rowsTable(rows) {
  const all = columnsOf(rows);
  const columns = all.slice(0, MOST_COLUMNS).map((name) => {
    const values = rows.map((row) => valueOf(row, name));
    const format = formatOf(name, values);
    const write = (value) => (value === undefined ? "" : value === null ? "null" : format.write(value));
    const longest = values.reduce((most, value) => Math.max(most, write(value)?.length ?? 0), name.length + 2);
    return { name, ...format, write, width: Math.min(WIDEST, Math.max(NARROWEST, longest)) };
  });
  const state = { rows, sorted: undefined, descends: false, words: [] };
  const isLong = rows.length * columns.length > MANY_CELLS;
  const width = columns.reduce((sum, one) => sum + one.width + 2, 0);
  const told = make("span", { class: "quiet count", role: "status" }, countOf(rows.length, rows.length));
  const table = make("table", { class: isLong ? "long" : undefined, "aria-rowcount": isLong ? String(rows.length + 1) : undefined });
  const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table" }, table);
  const body = isLong ? longBody(scroll, columns) : shortBody(columns);
  const heads = columns.map((column) => head(column, state, refresh));
  if (isLong) {
    const cols = columns.map((column) => {
      const col = make("col");
      col.style.width = column.width + 2 + "ch";
      return col;
    });
    table.append(make("colgroup", {}, ...cols));
    table.style.width = width + "ch";
  }
  table.append(make("thead", {}, make("tr", { "aria-rowindex": isLong ? "1" : undefined }, ...heads.map(({ node }) => node))), body.node);

  function refresh() {
    performance.mark("millrace-table-begin");
    const found = chosenRows(rows, columns, state);
    state.rows = found;
    for (const one of heads) one.look();
    body.show(found);
    told.textContent = countOf(found.length, rows.length);
    performance.measure("millrace-table", "millrace-table-begin");
  }
  body.show(rows);
  const made = make("div", { class: "rows" }, tools(all, rows, state, refresh, scroll), scroll, make("p", {}, told));
  if (width > WIDE_TABLE) made.dataset.wide = "true";
  if (all.length > columns.length)
    made.append(make("p", { class: "quiet" }, all.length - columns.length + " more columns are in the message and in the CSV."));
  return made;
}

const columnsOf = (rows) => [...new Set(rows.flatMap((row) => Object.keys(row)))];

const countOf = (found, all) => (found === all ? "" : thousands(found) + " of ") + thousands(all) + (all === 1 ? " row" : " rows");

// The rows that have all words, in the order of the chosen column.
function chosenRows(rows, columns, { words, sorted, descends }) {
  const has = (row) => {
    const text = columns
      .map(({ name, write }) => {
        const value = valueOf(row, name);
        return value === undefined ? "" : write(value) + " " + asText(value);
      })
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const found = words.length > 0 ? rows.filter(has) : rows;
  if (sorted === undefined) return found;
  const isMissing = (row) => valueOf(row, sorted) === undefined || valueOf(row, sorted) === null;
  const way = descends ? -1 : 1;
  // What is not there comes last, whichever way.
  return [...found].sort((a, b) => (isMissing(a) || isMissing(b) ? 1 : way) * compare(valueOf(a, sorted), valueOf(b, sorted)));
}

// The head of a column. Its button sorts: upwards, downwards, not at all.
function head(column, state, refresh) {
  const sort = () => {
    if (state.sorted !== column.name) [state.sorted, state.descends] = [column.name, false];
    else if (!state.descends) state.descends = true;
    else state.sorted = undefined;
    refresh();
  };
  const node = make(
    "th",
    { scope: "col", class: column.kind },
    button(column.name, sort, { class: "sort", title: "Sort by " + column.name }),
  );
  const look = () => {
    if (state.sorted === column.name) node.setAttribute("aria-sort", state.descends ? "descending" : "ascending");
    else node.removeAttribute("aria-sort");
  };
  return { node, look };
}

// What can be done with all rows that are chosen.
function tools(columns, rows, state, refresh, shown) {
  const told = make("span", { class: "quiet", role: "status" });
  const text = () => csv(columns, state.rows);
  const save = () => {
    const address = URL.createObjectURL(new Blob([text()], { type: "text/csv;charset=utf-8" }));
    const anchor = make("a", { download: "rows.csv" });
    anchor.href = address;
    anchor.click();
    // The browser has taken it by then.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    told.textContent = "Saved as rows.csv.";
  };
  const made = make("div", { class: "buttons table-tools" });
  if (rows.length > 5) {
    const filter = make("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows", class: "row-filter" });
    filter.addEventListener("input", () => {
      state.words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      refresh();
    });
    made.append(filter);
  }
  // Tabs between cells: a spreadsheet takes them apart.
  const tabbed = () =>
    [columns, ...state.rows.map((row) => columns.map((name) => valueOf(row, name) ?? ""))]
      .map((line) => line.map((value) => asText(value).replace(/[\t\r\n]+/g, " ")).join("\t"))
      .join("\n");
  made.append(
    button("Copy rows", () => void copied(tabbed(), shown, told)),
    button("CSV", save, { "aria-label": "Save as CSV", class: "as-csv" }),
    told,
  );
  return made;
}

function cellOf({ name, kind, write }, row) {
  const value = valueOf(row, name);
  const text = write(value);
  const made = make("td", { class: kind === "text" ? undefined : kind });
  if (value === null) made.append(make("span", { class: "quiet" }, "null"));
  else made.textContent = text;
  if (text?.length > WIDEST) made.title = text.slice(0, 2000);
  return made;
}

function shortBody(columns) {
  const node = make("tbody");
  return { node, show: (rows) => node.replaceChildren(...rows.map((row) => make("tr", {}, ...columns.map((one) => cellOf(one, row))))) };
}

// The rows in sight, between two that take the place of all others.
function longBody(scroll, columns) {
  const node = make("tbody");
  let all = [];
  let from = -1;
  let to = -1;
  const spacer = (count) => {
    const made = make("tr", { class: "spacer", "aria-hidden": "true" });
    made.style.height = count * ROW_HEIGHT + "px";
    return made;
  };
  const draw = (isNew) => {
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - SPARE);
    const last = Math.min(all.length, Math.ceil((scroll.scrollTop + (scroll.clientHeight || 480)) / ROW_HEIGHT) + SPARE);
    if (!isNew && first === from && last === to) return;
    [from, to] = [first, last];
    const rows = all
      .slice(first, last)
      .map((row, index) => make("tr", { "aria-rowindex": String(first + index + 2) }, ...columns.map((one) => cellOf(one, row))));
    node.replaceChildren(spacer(first), ...rows, spacer(all.length - last));
  };
  scroll.addEventListener("scroll", () => draw(false), { passive: true });
  return {
    node,
    show: (rows) => {
      all = rows;
      scroll.scrollTop = 0;
      draw(true);
    },
  };
}
