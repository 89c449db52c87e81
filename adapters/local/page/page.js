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

// The addresses of the panels, and of the list where it has the screen for itself; no item has them.
const CONNECT = "connect";
const TESTING = "tests";
const LIST = "list";

let testing;
// Made at first sight. What came of the tests stays.
const testingPanel = () => (testing ??= testsPanel());

// Whether the page belongs to a person at this machine, who gets more.
const isOwn = endpoint !== document.body.dataset.path;

// The panel of an address, if there is one.
function panelOf(key) {
  if (key === CONNECT && clients.length > 0) return connectPanel(clients, client, (id) => (client = id));
  if (key !== TESTING || !isOwn) return undefined;
  const panel = testingPanel();
  void panel.read();
  return panel.node;
}

// What the app says of itself to clients.
let instructions;

function home() {
  const count = (kind) => [...items.values()].filter((item) => item.kind === kind).length;
  const first = [...items.values()][0];
  const steps = [
    first && [
      "Call a tool",
      "Choose one in the list, or open the first. `/` searches, and Ctrl+Enter runs the open form.",
      () => openEntry(first),
    ],
    clients.length > 0 && [
      "Connect your client",
      "Claude, Cursor, VS Code and others: the lines for each, ready to copy.",
      () => openPanel(CONNECT),
    ],
    isOwn && [
      "Run the tests",
      "The tests of the app, as `millrace test` runs them. An answer can be copied as a test.",
      () => openPanel(TESTING),
    ],
  ];
  const counts = [
    [count("tool"), "tool", "tools"],
    [count("prompt"), "prompt", "prompts"],
    [count("resource"), "resource", "resources"],
  ];
  return homeNode({ counts, instructions, steps: steps.filter(Boolean) });
}

function openEntry(item) {
  show(item.kind, item.name);
  focusForm();
}

function openPanel(address) {
  if (location.hash !== "#" + address) history.pushState(null, "", "#" + address);
  opened(address);
  (firstControl(detail) ?? detail.querySelector("[tabindex='-1']") ?? byId("main")).focus();
}

whenRemembered = () => {
  if (document.body.dataset.open === "home") detail.replaceChildren(home());
};

function opened(key) {
  const item = items.get(key);
  const panel = item ? undefined : panelOf(key);
  current = item && key;
  document.body.dataset.view = key === LIST ? "list" : "item";
  document.body.dataset.open = item ? "item" : panel ? key : "home";
  lists.querySelector("button[aria-current]")?.removeAttribute("aria-current");
  if (item) lists.querySelector(`button[data-key="${CSS.escape(key)}"]`)?.setAttribute("aria-current", "true");
  for (const [id, address] of [
    ["connect", CONNECT],
    ["tests", TESTING],
  ]) {
    if (panel && address === key) byId(id).setAttribute("aria-current", "page");
    else byId(id).removeAttribute("aria-current");
  }
  setStop(lists);
  detail.replaceChildren(item ? viewOf(key).node : (panel ?? home()));
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

function focusForm() {
  const controls = [...detail.querySelectorAll(".fields input, .fields select, .fields textarea, textarea[name=arguments], button.run")];
  const first = controls.find((control) => control.checkVisibility());
  first?.focus();
  return first !== undefined;
}

function filter() {
  const found = filterList(lists, search.value);
  setStop(lists);
  if (search.value !== "") announce(counted(found, "entry", "entries"));
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

byId("connect").addEventListener("click", () => openPanel(CONNECT));
byId("tests").addEventListener("click", () => openPanel(TESTING));
byId("tests").hidden = !isOwn;
byId("skip").addEventListener("click", () => {
  document.body.dataset.view = "item";
  if (!focusForm()) byId("main").focus();
});

byId("overview").addEventListener("click", () => {
  history.pushState(null, "", location.pathname);
  followAddress();
  byId("main").focus({ preventScroll: true });
});

// On a narrow screen. The search has no focus yet: a keyboard would hide half of the list.
byId("back").addEventListener("click", () => {
  history.pushState(null, "", "#" + LIST);
  followAddress();
  byId("side").focus({ preventScroll: true });
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
  const { serverInfo: server, capabilities = {} } = hello.result;
  const found = new Map();
  const sections = [];
  for (const [title, kind, capability, methods] of GROUPS) {
    if (capability !== true && !capabilities[capability]) continue;
    let section;
    try {
      const entries = [];
      for (const [method, member] of methods) entries.push(...(await listed(method, member)));
      const own = entries.map((entry) => itemOf[kind](entry));
      for (const item of own) found.set(keyOf(kind, item.name), item);
      const entryOf = (item) => listEntry(item, keyOf(kind, item.name), aboutOf(item), () => openEntry(item));
      section = listSection(title, kind, own, aboutOf, entryOf);
      if (kind === "tool" && entries.length === 0) section.append(make("p", {}, "This app has no tools yet."));
    } catch (error) {
      // A list that cannot be had does not keep the others away.
      section = make(
        "section",
        {},
        make("h2", {}, title),
        make("p", { class: "failure" }, methods.map(([method]) => "`" + method + "`").join(", ") + " failed: " + error.message),
      );
    }
    sections.push(section);
  }
  // Another load began meanwhile: it knows better.
  if (own !== loads) return;
  if (server) byId("name").textContent = document.title = server.name + (server.version ? " " + server.version : "");
  instructions = hello.result.instructions;
  suggests = capabilities.completions !== undefined;
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
  appFolder = state.folder ?? undefined;
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
  if (!isOwn) return;
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
