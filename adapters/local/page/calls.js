// The last calls, and where the time of each went.

const MOST_CALLS = 20;
const callList = document.getElementById("call-list");
// The same calls as values, the newest first: `{ name, outcome, ms, code, again, when }`.
const pastCalls = [];
let whenRemembered = () => {};

// Adds a call. `again` opens it with the same values, `copies` makes what copies it. One of another client has the time at which it ended,
// `by`, instead.
function remember(call) {
  const { name, outcome, ms, code, again, by } = call;
  pastCalls.unshift({ name, outcome, ms, code, again, when: by ?? new Date() });
  pastCalls.length = Math.min(pastCalls.length, MOST_CALLS);
  // A call and its button lie beside each other.
  callList.prepend(callNode(call), again ? button("Open with these values", again, { class: "again" }) : make("span"));
  while (callList.children.length > 2 * MOST_CALLS) callList.lastElementChild.remove();
  document.getElementById("calls").hidden = false;
  whenRemembered();
}

function callNode({ name, outcome, ms, tokens: count, details, by, copies }) {
  const calls = (details.calls ?? []).filter(({ us }) => us > 0);
  const whole = Math.max(ms * 1000, 1);
  const stages = calls.flatMap((call) => call.steps.map((step) => ({ ...step, at: step.at + call.at })));
  // The server's own clock: the time until it began, and after it ended, is the way there and back.
  const last = Math.max(0, ...calls.map(({ at, us }) => at + us));
  const scaleTo = calls.length > 0 ? Math.max(last, 1) : whole;
  const track = (steps) =>
    make(
      "span",
      { class: "track", role: "img", "aria-label": steps.map(({ name: own, us }) => own + " " + milliseconds(us / 1000)).join(", ") },
      ...steps.map((step) => bar(step, scaleTo)),
    );
  const said = by
    ? "By another client, at " + by.toLocaleTimeString() + "."
    : calls.length > 0
      ? "In the server: " + milliseconds(last / 1000) + " of " + milliseconds(ms) + ". " + estimate(count) + "."
      : "The stages are not known here: `millrace dev` on a loopback address shows them. " + estimate(count) + ".";
  return make(
    "details",
    { class: "call fresh", "data-name": name },
    make(
      "summary",
      {},
      make("span", { class: "mono" }, name, by ? make("small", { class: "quiet" }, " other client") : null),
      make("span", { class: outcome === "failed" ? "failure" : undefined }, outcome),
      make("span", { class: "time" }, milliseconds(ms)),
      track(stages.filter(({ isEntry }) => !isEntry)),
    ),
    ...stages.map((step) =>
      make(
        "div",
        { class: "step" },
        make("span", { class: step.isEntry ? "mono quiet" : "mono" }, step.name),
        track([step]),
        make("span", {}, milliseconds(step.us / 1000)),
      ),
    ),
    make("p", { class: "quiet" }, ...coded(said)),
    copies?.() ?? null,
  );
}

function bar({ at, us, isEntry, name }, whole) {
  const made = make("i", { class: isEntry ? "entry" : "stage", title: name + " " + milliseconds(us / 1000) });
  made.style.left = (at / whole) * 100 + "%";
  made.style.width = (us / whole) * 100 + "%";
  return made;
}

// What a call of a tool goes through, and where its settings come from. Known on this machine only.
function explained({ stages, settings }) {
  const stage = ({ stage: name, applies, does, details, statement }) =>
    make(
      "tr",
      { class: applies ? undefined : "idle" },
      make("td", { class: "mono" }, name),
      make(
        "td",
        {},
        ...coded(does),
        statement ? verbatim(statement) : null,
        details.length > 0 ? make("ul", {}, ...details.map((line) => make("li", {}, ...coded(line)))) : null,
      ),
    );
  const made = make(
    "details",
    { class: "panel explained" },
    make("summary", {}, "What a call goes through"),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Stages" },
      make("table", {}, make("tbody", {}, ...stages.map(stage))),
    ),
  );
  if (settings.length > 0) {
    const head = make("thead", {}, make("tr", {}, ...["Setting", "Value", "From"].map((text) => make("th", { scope: "col" }, text))));
    const rows = settings.map(({ setting, value, place }) =>
      make("tr", {}, ...[setting, value, place].map((text) => make("td", { class: "mono" }, text))),
    );
    made.append(
      make("h3", {}, "Settings"),
      make(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Settings" },
        make("table", { class: "settings" }, head, make("tbody", {}, ...rows)),
      ),
    );
  }
  return made;
}
