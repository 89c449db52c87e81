// The tests of the app: which there are, and what comes of them. `millrace test` runs them.

const TESTS = "/page-tests.json";

const STATUS = { passed: "passed", failed: "failed", skipped: "skipped", running: "runs …" };

async function askTests(run) {
  const options = run ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(run) } : { method: "GET" };
  const response = await fetch(TESTS, { ...options, credentials: "omit", cache: "no-store" });
  const report = parsed(await response.text());
  if (report?.error !== undefined) throw new Error(asText(report.error));
  if (!Array.isArray(report?.tests)) throw new Error("HTTP " + response.status);
  return report;
}

const counted = (count, one, many = one + "s") => thousands(count) + " " + (count === 1 ? one : many);

function summaryOf(tests) {
  const parts = ["passed", "failed", "skipped"]
    .map((status) => [tests.filter((test) => test.status === status).length, status])
    .filter(([count]) => count > 0)
    .map(([count, status]) => count + " " + status);
  return counted(tests.length, "test") + (parts.length > 0 ? ": " + parts.join(", ") : "");
}

// The panel of the tests. What came of them stays while it is not in sight.
function testsPanel() {
  const results = new Map();
  const told = make("p", { class: "told", role: "status", tabindex: "-1" }, "Reading the tests …");
  const list = make("div", { class: "tests" });
  const all = button("Run all tests", () => void run(), { class: "run", disabled: true });
  const node = make(
    "section",
    { class: "item tests-panel", "aria-label": "Tests" },
    make("h2", {}, "Tests"),
    make(
      "p",
      { class: "quiet" },
      ...coded("These are the files `NAME.test.yaml` of the app, run as `millrace test` runs them: each test has a database of its own."),
    ),
    make("div", { class: "buttons" }, all),
    told,
    list,
  );
  let known = { tests: [], untested: [] };
  let isRunning = false;

  const withResults = () => known.tests.map((test) => ({ ...test, ...results.get(test.place) }));

  function draw() {
    const tests = withResults();
    const files = new Map();
    for (const test of tests) files.set(test.file, [...(files.get(test.file) ?? []), test]);
    list.replaceChildren(...[...files].map(([file, own]) => fileNode(file, own)));
    if (known.untested.length > 0)
      list.append(make("p", { class: "quiet untested" }, "Tools without a test: " + known.untested.join(", ") + "."));
    all.disabled = isRunning || tests.length === 0;
  }

  const fileNode = (file, tests) =>
    make("section", { class: "test-file" }, make("h3", { class: "mono" }, file), make("ul", {}, ...tests.map(testNode)));

  const testNode = (test) => {
    const status = test.status ?? "";
    const facts = [STATUS[status] ?? "not run", test.ms === undefined ? "" : milliseconds(test.ms)].filter(Boolean).join(", ");
    return make(
      "li",
      { class: "test " + status, "data-place": test.place },
      make("span", { class: "verdict" }, facts),
      make("span", { class: "test-name" }, test.name),
      button("Run", () => void run(test), { "aria-label": "Run the test “" + test.name + "”", disabled: isRunning }),
      test.reason ? make("p", { class: "quiet" }, ...coded(test.reason)) : null,
      ...(test.problems ?? []).map(({ place, message }) =>
        make("p", { class: "test-problem" }, make("code", {}, place), " ", ...coded(message)),
      ),
    );
  };

  async function read() {
    if (isRunning) return;
    try {
      const found = await askTests();
      // A run that began meanwhile knows better.
      if (isRunning) return;
      known = found;
      // A test that has moved is another one.
      const places = new Set(known.tests.map(({ place }) => place));
      for (const place of results.keys()) if (!places.has(place)) results.delete(place);
      told.textContent =
        known.tests.length > 0
          ? summaryOf(withResults())
          : "The app has no tests yet. Call a tool, and copy the call as a test: the answer has a button for that.";
    } catch (error) {
      told.textContent = "The tests cannot be listed: " + error.message;
    }
    draw();
  }

  async function run(only) {
    if (isRunning) return;
    isRunning = true;
    const wanted = only ? [only] : known.tests;
    for (const { place } of wanted) results.set(place, { status: "running" });
    told.textContent = only ? "Running “" + only.name + "” …" : "Running " + counted(wanted.length, "test") + " …";
    draw();
    try {
      const report = await askTests(only ? { filter: only.place } : {});
      for (const { place } of wanted) results.delete(place);
      for (const { place, status, problems, reason, ms } of report.tests) results.set(place, { status, problems, reason, ms });
      if (!only)
        known = { tests: report.tests.map(({ name, file, place, calls }) => ({ name, file, place, calls })), untested: report.untested };
      told.textContent = summaryOf(report.tests);
    } catch (error) {
      for (const { place } of wanted) results.delete(place);
      told.textContent = "The tests did not run: " + error.message;
    }
    isRunning = false;
    draw();
    told.focus();
  }
  return { node, read };
}
