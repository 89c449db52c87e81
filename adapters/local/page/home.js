// The first screen: what the app has, what to do next, and what failed last.

const MOST_FAILURES = 5;

// `about`: `{ counts: [[number, one, many]], instructions, steps: [[title, text, act]] }`.
function homeNode({ counts, instructions, steps }) {
  const tile = ([count, one, many]) => make("li", {}, make("strong", {}, thousands(count)), " " + (count === 1 ? one : many));
  const step = ([title, text, act]) => make("li", {}, button(title, act), make("p", { class: "quiet" }, ...coded(text)));
  const failures = pastCalls.filter(({ outcome }) => outcome === "failed").slice(0, MOST_FAILURES);
  return make(
    "section",
    { class: "home", "aria-label": "Overview" },
    make("h2", {}, "Overview"),
    make("ul", { class: "counts" }, ...counts.map(tile)),
    instructions ? make("p", { class: "instructions" }, ...coded(instructions)) : null,
    make("h2", {}, "Next steps"),
    make("ol", { class: "steps" }, ...steps.map(step)),
    make("h2", {}, "Last failures"),
    failures.length === 0
      ? make("p", { class: "quiet" }, "Nothing has failed since this page was opened.")
      : make("ul", { class: "failures" }, ...failures.map(failureLine)),
    pastCalls.length === 0 ? make("p", { class: "quiet" }, "No tool was called yet: calls of every client are listed here.") : null,
  );
}

const failureLine = ({ name, code, ms, again, when }) =>
  make(
    "li",
    {},
    make("span", { class: "mono" }, name),
    " ",
    code ? make("code", { class: "failure" }, code) : make("span", { class: "failure" }, "failed"),
    make("span", { class: "quiet" }, " at " + when.toLocaleTimeString() + ", after " + milliseconds(ms)),
    again ? " " : null,
    again ? button("Open with these values", again) : null,
  );
