// The page: the list on the left, the item on the right, the keyboard, and what follows the app as it changes.

const byId = (id) => document.getElementById(id);
const search = byId("search");
const lists = byId("lists");
const detail = byId("detail");

// By kind and name.
const items = new Map();
const views = new Map();
// What no list says, by the name of a tool.
let known = new Map();
// The clients that can be connected, and the one that was chosen.
let clients = [];
let client;
let version;
let current;

const keyOf = (kind, name) => kind + "/" + encodeURIComponent(name);

// Opens an item, with values where some are given.
function show(kind, name, values) {
  const key = keyOf(kind, name);
  if (!items.has(key)) return;
  // The address is changed first: it is what a person goes back to.
  if (location.hash !== "#" + key) history.pushState(null, "", "#" + key);
  opened(key);
  if (values !== undefined) views.get(key).fill(values);
}

// A button that opens an item, if there is one: a tool, or a resource by its address.
function opener(name, values) {
  const kind = ["tool", "resource"].find((one) => items.has(keyOf(one, name)));
  return kind && button(name, () => show(kind, name, isObject(values) ? values : undefined), { class: "mono" });
}

// The view of an item, made at first sight.
function viewOf(key) {
  if (!views.has(key)) views.set(key, made(items.get(key)));
  return views.get(key);
}

const aboutOf = (item) => (item.kind === "tool" ? known.get(item.name) : undefined);

const made = (item) => ({ ...view(item, aboutOf(item), opener), sign: signOf(item) });

// Tells one state of an item from another.
const signOf = (item) => JSON.stringify([item.entry, aboutOf(item)]);

// The address of the panel that connects clients, which no item has.
const CONNECT = "connect";

function opened(key) {
  const item = items.get(key);
  const isPanel = key === CONNECT && clients.length > 0;
  current = item && key;
  document.body.dataset.view = item || isPanel ? "item" : "list";
  byId("about").hidden = item !== undefined || isPanel;
  for (const entry of lists.querySelectorAll("button")) {
    if (entry.dataset.key === key) entry.setAttribute("aria-current", "true");
    else entry.removeAttribute("aria-current");
  }
  if (isPanel) return detail.replaceChildren(connectPanel(clients, client, (id) => (client = id)));
  if (!item) return detail.replaceChildren(make("p", { class: "quiet" }, "Choose a tool, a prompt or a resource from the list."));
  detail.replaceChildren(viewOf(key).node);
}

const followAddress = () => opened(location.hash.slice(1));
addEventListener("hashchange", followAddress);
addEventListener("popstate", followAddress);

// The list.

const GROUPS = [
  ["Tools", "tool", true, [["tools/list", "tools"]]],
  ["Prompts", "prompt", "prompts", [["prompts/list", "prompts"]]],
  [
    "Resources",
    "resource",
    "resources",
    [
      ["resources/list", "resources"],
      ["resources/templates/list", "resourceTemplates"],
    ],
  ],
];

function listEntry(item, key) {
  const about = aboutOf(item);
  const text = [item.name, item.title, item.entry.description, ...badgesOf(item, about).map(([badge]) => badge)]
    .filter(Boolean)
    .join(" ")
    .toLowerCase();
  const made = button(
    "",
    () => {
      show(item.kind, item.name);
      focusForm();
    },
    { "data-key": key, "data-text": text },
  );
  const shownBadges = badgesOf(item, about).filter(([badge]) => !badge.startsWith("#"));
  made.append(
    make("span", { class: "mono" }, item.name),
    item.entry.description ? make("small", {}, item.entry.description) : "",
    badgeList(shownBadges) ?? "",
  );
  return made;
}

function focusForm() {
  const first = detail.querySelector(".fields input, .fields select, .fields textarea") ?? detail.querySelector("button.run");
  first?.focus();
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const group of lists.querySelectorAll("section")) {
    const entries = [...group.querySelectorAll("button")];
    for (const entry of entries) entry.hidden = !words.every((word) => entry.dataset.text.includes(word));
    group.hidden = entries.length > 0 && entries.every((entry) => entry.hidden);
  }
  const none = words.length > 0 && [...lists.querySelectorAll("button")].every((entry) => entry.hidden);
  byId("none")?.remove();
  if (none) lists.append(make("p", { id: "none", class: "quiet" }, "Nothing has these words."));
}
search.addEventListener("input", filter);

// The keyboard.

const visible = () => [...lists.querySelectorAll("button")].filter((entry) => !entry.hidden && !entry.closest("section")?.hidden);

function move(by) {
  const entries = visible();
  const at = entries.indexOf(document.activeElement) + by;
  if (at < 0) search.focus();
  else entries[Math.min(at, entries.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, textarea, select");
  const isInList = event.target === search || lists.contains(event.target);
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    if (current) {
      event.preventDefault();
      views.get(current)?.run();
    }
  } else if (event.ctrlKey || event.metaKey || event.altKey) {
    // The browser's own.
  } else if (event.key === "/" && !isTyping) {
    event.preventDefault();
    document.body.dataset.view = "list";
    search.focus();
    search.select();
  } else if (event.key === "Escape") {
    if (event.target === search && search.value !== "") {
      search.value = "";
      filter();
      return;
    }
    document.body.dataset.view = "list";
    search.focus();
  } else if (isInList && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    move(event.target === search && event.key === "ArrowUp" ? 0 : event.key === "ArrowDown" ? 1 : -1);
  } else if (event.target === search && event.key === "Enter") {
    event.preventDefault();
    visible()[0]?.click();
  }
});

byId("connect").addEventListener("click", () => {
  if (location.hash !== "#" + CONNECT) history.pushState(null, "", "#" + CONNECT);
  opened(CONNECT);
  byId("client")?.focus();
});

byId("back").addEventListener("click", () => {
  history.pushState(null, "", location.pathname);
  followAddress();
  search.focus();
});

// Credentials.

function headerRow(name) {
  const row = make(
    "div",
    { class: "header-row" },
    make("input", { value: name, placeholder: "Header", "aria-label": "Header", autocomplete: "off", spellcheck: "false" }),
    make("input", { type: "password", placeholder: "Value", "aria-label": "Value", autocomplete: "off" }),
    button(
      "✕",
      () => {
        row.remove();
        lookAtCredentials();
      },
      { "aria-label": "Remove the header" },
    ),
  );
  return row;
}

const lookAtCredentials = () => views.forEach((one) => one.look());
requestHeaders.append(headerRow("X-API-Key"));
requestHeaders.addEventListener("input", lookAtCredentials);
// Other credentials, other lists.
requestHeaders.addEventListener("change", () => void load());
byId("more-headers").addEventListener("click", () => {
  requestHeaders.append(headerRow(""));
  requestHeaders.lastElementChild.firstElementChild.focus();
});

// Light and dark. Only this choice is kept by the browser.

const THEMES = ["system", "dark", "light"];
const themeButton = byId("theme");

function setTheme(theme) {
  themeButton.textContent = "Theme: " + theme;
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

const keptTheme = () => {
  try {
    return localStorage.getItem("millrace-theme");
  } catch {
    return null;
  }
};
setTheme(THEMES.includes(keptTheme()) ? keptTheme() : "system");
themeButton.addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme ?? "system") + 1) % THEMES.length];
  setTheme(next);
  try {
    localStorage.setItem("millrace-theme", next);
  } catch {
    /* A browser that keeps nothing. */
  }
});

// The app, and its changes.

const say = (text) => {
  byId("status").textContent = text;
};

// The app lets nobody see it who does not say who it is.
class Locked extends Error {
  constructor() {
    super("this app asks every caller who it is. Fill in the header with your credentials; the lists follow.");
  }
}

let loads = 0;
async function load() {
  const own = ++loads;
  const { status, message: hello } = await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "millrace-page", version: "1" },
  });
  if (status === 401 || status === 403) throw new Locked();
  if (!hello.result) throw new Error(hello.error?.message ?? "the server did not answer `initialize`");
  const { serverInfo: server, capabilities = {}, instructions } = hello.result;
  const found = new Map();
  const sections = [];
  for (const [title, kind, capability, methods] of GROUPS) {
    if (capability !== true && !capabilities[capability]) continue;
    const section = make("section", { "data-kind": kind });
    try {
      const entries = [];
      for (const [method, member] of methods) entries.push(...(await listed(method, member)));
      if (entries.length > 0) section.append(make("h2", {}, title + " (" + entries.length + ")"));
      for (const entry of entries) {
        const item = itemOf[kind](entry);
        const key = keyOf(kind, item.name);
        found.set(key, item);
        section.append(listEntry(item, key));
      }
      if (kind === "tool" && entries.length === 0) section.append(make("p", {}, "This app has no tools yet."));
    } catch (error) {
      // A list that cannot be had does not keep the others away.
      section.append(
        make("h2", {}, title),
        make("p", { class: "failure" }, methods.map(([method]) => "`" + method + "`").join(", ") + " failed: " + error.message),
      );
    }
    sections.push(section);
  }
  // Another load began meanwhile: it knows better.
  if (own !== loads) return;
  if (server) byId("name").textContent = document.title = server.name + (server.version ? " " + server.version : "");
  byId("about").textContent = instructions ?? "";
  const wasInList = document.activeElement?.dataset?.key;
  lists.replaceChildren(...sections);
  replaceItems(found);
  filter();
  if (wasInList) [...lists.querySelectorAll("button")].find((entry) => entry.dataset.key === wasInList)?.focus();
}

// Takes the new items. A view whose item changed is made again, with what was typed.
function replaceItems(found) {
  items.clear();
  for (const [key, item] of found) items.set(key, item);
  for (const [key, old] of views) {
    const item = items.get(key);
    if (item && signOf(item) === old.sign) continue;
    views.delete(key);
    if (!item) continue;
    const values = old.values();
    const fresh = viewOf(key);
    if (values !== undefined) fresh.fill(values);
  }
  followAddress();
}

// Whether the app is another than before; its state is then known.
async function hasChanged() {
  const response = await fetch("/page.json", {
    headers: version ? { "if-none-match": version } : {},
    credentials: "omit",
    cache: "no-store",
  });
  if (response.status === 304) return false;
  if (!response.ok) throw new Error("HTTP " + response.status);
  const state = await response.json();
  version = response.headers.get("etag") ?? undefined;
  known = new Map(state.tools.map((tool) => [tool.name, tool]));
  clients = state.clients;
  return true;
}

// What this machine's own page learns from elsewhere: what is wrong with the last change of the app, and the calls of other clients.
// Those of the last look are known by their time and number.
let seenCalls = new Set();

function showProblems(problems) {
  const shown = byId("problems");
  if (shown.lastElementChild.textContent !== problems) shown.lastElementChild.textContent = problems;
  shown.hidden = problems === "";
}

async function followOthers() {
  if (endpoint === document.body.dataset.path) return;
  const response = await fetch("/page-elsewhere.json", { credentials: "omit", cache: "no-store" });
  if (!response.ok) return;
  const { calls, problems } = await response.json();
  showProblems(problems);
  const others = calls.map((other) => ({ ...other, id: [other.when, other.number, other.call.us].join("/") }));
  const fresh = others.filter(({ id }) => !seenCalls.has(id));
  seenCalls = new Set(others.map(({ id }) => id));
  for (const { when, call, steps } of fresh) {
    const outcome = { error: "failed", input_required: "asked" }[call.outcome] ?? call.outcome;
    remember({ name: call.tool, outcome, ms: call.us / 1000, details: { calls: [{ at: 0, us: call.us, steps }] }, by: new Date(when) });
  }
}

const INTERVAL = 1000;

async function follow() {
  let isAway = false;
  for (;;) {
    await new Promise((done) => setTimeout(done, INTERVAL));
    if (document.hidden) continue;
    try {
      if ((await hasChanged()) || isAway) {
        await load();
        say((isAway ? "Connected again at " : "Reloaded at ") + new Date().toLocaleTimeString());
      }
      isAway = false;
      await followOthers();
    } catch (error) {
      isAway = true;
      // What was not loaded is loaded at the next attempt.
      version = undefined;
      say(error instanceof Locked ? "Not let in." : "No connection. Trying again …");
    }
  }
}

async function begin() {
  byId("address").textContent = location.origin + document.body.dataset.path;
  try {
    await hasChanged();
    if ([...known.values()].some(({ needs }) => needs)) byId("credentials").open = true;
    await load();
  } catch (error) {
    if (error instanceof Locked) byId("credentials").open = true;
    lists.replaceChildren(make("p", { class: "failure" }, "No answer: " + error.message));
    version = undefined;
  }
  document.body.dataset.ready = "true";
  void follow();
}
void begin();
