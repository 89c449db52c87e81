// The page of `millrace dev` and `serve --page` in a real browser: what a person sees and gets there.
// Usage: node page.mjs BROWSER URL SCENARIO [ARGUMENT]. Fails, and says what was seen, where anything is not as it has to be.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";
import { moreScenarios } from "./page-more.mjs";

const [browserPath, url, scenario, argument] = process.argv.slice(2);
const KEY = "the-key-of-the-test";
const CTRL = 2;

const quoted = JSON.stringify;
const text = (selector) => page.evaluate(`document.querySelector(${quoted(selector)})?.innerText ?? null`);
const count = (selector) => page.evaluate(`document.querySelectorAll(${quoted(selector)}).length`);
const isVisible = (selector) => page.evaluate(`document.querySelector(${quoted(selector)})?.checkVisibility() ?? false`);
const focused = () => page.evaluate("document.activeElement.dataset.key ?? document.activeElement.id ?? ''");
const click = (selector) => page.evaluate(`document.querySelector(${quoted(selector)}).click()`);
const fill = (selector, value) =>
  page.evaluate(`(() => {
    const control = document.querySelector(${quoted(selector)});
    control.value = ${quoted(value)};
    for (const event of ["input", "change"]) control.dispatchEvent(new Event(event, { bubbles: true }));
  })()`);

// Opens an item, as its entry in the list does.
async function open(name) {
  await page.evaluate(
    `[...document.querySelectorAll("#lists button")].find((entry) => entry.querySelector(".mono").textContent === ${quoted(name)}).click()`,
  );
  await page.until(`document.querySelector("#detail .item")?.dataset.name === ${quoted(name)}`);
}

// Fills in the open form and submits it; what the person then sees.
async function submit(values = {}) {
  for (const [name, value] of Object.entries(values)) await fill(`#detail form [name="${name}"]`, value);
  await page.evaluate("document.querySelector('#detail [aria-live]').replaceChildren()");
  await click("#detail form button.run");
  return answered();
}

async function answered() {
  await page.until(
    "document.querySelector('#detail .answer, #detail [aria-live] .failed') && !document.querySelector('#detail form button.run').disabled",
  );
  return page.evaluate(`(() => {
    const part = (selector) => document.querySelector("#detail " + selector)?.innerText ?? "";
    return { answer: part(".rendered") || part("[aria-live]"), failed: document.querySelector("#detail [aria-live] .failed") !== null, log: part(".log"),
      details: part(".details"), model: [...document.querySelectorAll("#detail .seen > pre")].map((one) => one.textContent), cost: part(".cost") };
  })()`);
}

// Resolves once nothing moves any more, and nothing has the focus.
const settled = () =>
  page.evaluate(`(async () => {
    document.activeElement.blur();
    await Promise.all(document.getAnimations().map((one) => one.finished));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  })()`);

// What sticks out of the window.
const outside = () =>
  page.evaluate(`[...document.querySelectorAll("body *")].filter((one) => {
    if (!one.checkVisibility() || one.closest(".scroll, pre, svg")) return false;
    const { left, right, width } = one.getBoundingClientRect();
    return width > 0 && (left < -1 || right > innerWidth + 1);
  }).map((one) => one.outerHTML.slice(0, 120))`);

const has = (seen, ...expected) => {
  for (const part of expected) assert.ok(seen?.includes(part), part + " is missing in:\n" + seen);
};

const scenarios = {
  // Everything can be seen and called on a narrow screen.
  async phone() {
    await page.screen(390, 844, true);
    await page.open(url);
    assert.match(await page.evaluate("document.title"), /^paged 1\.2\.3\+[0-9a-f]{8}$/);
    assert.equal(await text("#address"), url.replace(/\/$/, "/mcp"));
    // The overview comes first, and the list is one tap away.
    assert.deepEqual([await isVisible("#side"), await isVisible("#main")], [false, true]);
    has(await text("body"), "Connect your client", "Overview", "1\nprompt", "2\nresources", "Next steps", "Last failures");
    const end = await page.evaluate("document.querySelector('#detail .home').getBoundingClientRect().bottom");
    assert.ok(end < 844, "counts, next steps and failures are on the first screen: " + end);
    await click("#back");
    assert.deepEqual([await isVisible("#side"), await isVisible("#main")], [true, false]);
    has(
      await text("body"),
      "PROMPTS (1)",
      "greet",
      "RESOURCES (2)",
      "docs://manual",
      "docs://pages/{+path}",
      "needs a key",
      "needs credentials",
    );
    const names = await page.evaluate("[...document.querySelectorAll('#lists button .mono')].map((one) => one.textContent)");
    for (const name of names) {
      await open(name);
      assert.equal(await isVisible("#side"), false);
      await page.evaluate("document.querySelectorAll('#detail details').forEach((one) => { one.open = true; })");
      assert.deepEqual(await outside(), [], name);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390, name);
    }
    await open("limited");
    const badges = ["A title", "destructive", "idempotent", "open world", "#a-tag"];
    const bounds = [
      "at least 3",
      "at most 17",
      "matches ^[A-Z]{4}$",
      "max. characters: 4",
      "one of red, green",
      'default "green"',
      "max. elements: 6",
    ];
    has(await text("#detail"), ...badges, ...bounds, "<img src=x> <b>bold</b>");
    await click("#back");
    assert.deepEqual([await isVisible("#side"), await isVisible("#main")], [true, false]);
    // What was called is on the first screen; the browser's own way back goes through the list.
    await click("#overview");
    await page.until("document.querySelector('#detail .home')");
    assert.deepEqual([await isVisible("#side"), await isVisible("#main")], [false, true]);
    await page.evaluate("history.back()");
    await page.until("document.body.dataset.view === 'list'");

    await open("report");
    assert.equal((await submit()).failed, false);
    await page.evaluate("document.querySelectorAll('#main details').forEach((one) => { one.open = true; })");
    assert.deepEqual(await outside(), []);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
  },

  // Calls, and what comes back: streams, failures, credentials, prompts, resources.
  async answers() {
    await page.open(url);
    await open("log-it");
    const logging = await submit();
    has(logging.answer, '"done": true');
    has(logging.log, "info log-it x", "progress 1 of 2: halfway");
    assert.equal(logging.details, "");
    // What a script threw, and where: for a person at the machine, and nobody else.
    for (const [name, ...expected] of [
      ["throws", "ünder repair", "app/tools/throws/handler.ts:5:"],
      ["throws-later", "later", "throws-later/handler.ts:4:"],
    ]) {
      await open(name);
      const { answer, failed, details, model } = await submit();
      has(details, ...expected);
      has(answer, "SCRIPT_ERROR");
      assert.ok(failed && !model.join("").includes("handler.ts"), model.join(""));
    }
    await open("locked");
    assert.equal(await isVisible("#detail .locked"), true);
    has((await submit()).answer, "UNAUTHORIZED");
    await fill("#headers input[type=password]", KEY);
    assert.equal(await isVisible("#detail .locked"), false);
    has((await submit()).answer, '"done": true');
    await open("own-plugin");
    has((await submit()).answer, "UNAUTHORIZED");
    await click("#more-headers");
    await fill(".header-row:last-child input", "X-Caller");
    await fill(".header-row:last-child input[type=password]", "ann");
    has((await submit()).answer, '"done": true');
    // Credentials are in the memory of the page alone.
    const kept = await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])");
    assert.ok(!kept.includes(KEY), kept);

    await open("greet");
    has((await submit({ name: "<b>Ann</b>" })).answer, "user:", "Hello <b>Ann</b>.");
    await open("docs://manual");
    has((await submit()).answer, "Read me.");
    await open("docs://pages/{+path}");
    has((await submit({ path: "a b/c" })).answer, "Page a b/c.");

    // A tool that asks is answered here.
    await open("confirmed");
    await submit({ id: "7" });
    has(await text("#detail .questions"), "Cancel order 7?");
    assert.equal(await count("#detail .rendered"), 0);
    has(await text("#call-list .call"), "confirmed", "asked");
    await click("#detail .questions button.run");
    await page.until("!document.querySelector('#detail .questions') && document.querySelector('#detail .answer')");
    has(await text("#detail .rendered"), "cancelled", "Made stale", "report, limited");

    // The older revision, in which nothing can be asked.
    await page.evaluate("(() => { document.getElementById('revision').value = '2025-11-25'; })()");
    assert.equal((await submit({ id: "7" })).failed, true);
    await open("log-it");
    assert.equal((await submit()).failed, false);
    await open("shaped");
    assert.equal(await count("#detail .alternative option"), 2, "a choice between objects is one in the form");
  },

  // The list, the search, the keyboard; a form of nested values; the answer for people and for the model; the stages.
  async desk() {
    await page.screen(1280, 900);
    await page.open(url);
    // "/" searches, the arrows choose, Enter opens, Ctrl+Enter runs, Escape goes back.
    await page.press("/");
    assert.equal(await focused(), "search");
    await page.type("read-only logs");
    await page.until("[...document.querySelectorAll('#lists button')].filter((one) => one.checkVisibility()).length === 1");
    await page.press("Escape");
    assert.equal(await page.evaluate("document.getElementById('search').value"), "");
    await page.type("throws");
    await page.press("ArrowDown");
    assert.equal(await focused(), "tool/throws");
    await page.press("ArrowDown");
    assert.equal(await focused(), "tool/throws-later");
    await page.press("ArrowDown");
    assert.equal(await focused(), "tool/throws-later");
    await page.press("ArrowUp");
    await page.press("ArrowUp");
    assert.equal(await focused(), "search");
    await page.press("Escape");
    await page.type("no such words");
    has(await text("#lists"), "Nothing has these words.");
    await page.press("Escape");
    await page.type("report");
    await page.press("Enter");
    await page.until("document.querySelector('#detail .item')?.dataset.name === 'report'");
    assert.equal(await page.evaluate("location.hash"), "#tool/report");
    assert.equal(await page.evaluate("document.activeElement.name"), "title");

    // The form: text, a choice, nested objects, a list of objects, choices, JSON; filled in from examples and defaults.
    assert.equal(await page.evaluate("document.activeElement.value"), "Sales & <more>");
    assert.equal(await page.evaluate("document.querySelector('[name=mode]').value"), '"full"');
    await fill("#detail [name=least]", "2");
    has(await text("#detail .problem:not([hidden])"), "must be at least 3");
    await fill("#detail [name=least]", "5");
    assert.equal(await count("#detail .problem:not([hidden])"), 0);
    await fill("#detail fieldset [name=city]", "Porto");
    await click("#detail .elements .add");
    await fill("#detail .element [name=sku]", "a-1");
    await fill("#detail .element [name=count]", "2");
    await click("#detail .choices input[value='\"small\"']");
    await fill("#detail [name=anything]", '{"deep":[1]}');
    await page.press("Enter", CTRL);
    const { answer, model, cost } = await answered();
    const sent = JSON.parse(await page.evaluate("document.querySelector('#detail .sent').textContent")).params.arguments;
    const expected = {
      title: "Sales & <more>",
      mode: "full",
      least: 5,
      place: { city: "Porto" },
      lines: [{ sku: "a-1", count: 2 }],
      sizes: ["small"],
      anything: { deep: [1] },
    };
    assert.deepEqual(sent, expected);

    // For people: the table, the chart, the flow, Markdown, code, the picture. For the model: what is not for people only.
    assert.deepEqual(await page.evaluate("[...document.querySelectorAll('#detail .rendered .rows th')].map((one) => one.textContent)"), [
      "month",
      "sales",
      "note",
    ]);
    assert.equal(await count("#detail .rendered figure.chart"), 7, "bars, lines, two pies, a gauge, points, and the flow");
    has(
      answer,
      "Sales by month",
      "roses 75.0 %",
      "bold",
      "SELECT 1",
      "This page draws simple charts only",
      "for people only",
      "for the model only",
      "Amounts are in cents.",
    );
    assert.equal(await count("#detail .rendered .markdown strong"), 2, "of the text and of the summary");
    assert.equal(await page.evaluate("document.querySelector('#detail .rendered img').naturalWidth"), 1);
    const seen = model.join("\n");
    has(seen, '"month":"2026-01"', "<domain_rules>", "<action_suggestions>", "<llm_directives>");
    assert.ok(!seen.includes("ui_passthrough") && !seen.includes("Sales by month"), seen);
    const tokens = model.reduce(
      (sum, part) => sum + (part.startsWith("[image") ? 0 : Math.ceil(new TextEncoder().encode(part).length / 4)),
      0,
    );
    has(cost, "≈ " + String(tokens).replace(/\B(?=(\d{3})+$)/g, ",") + " tokens (bytes / 4, an estimate)", "for people only");
    has(await page.evaluate("document.querySelector('#detail .received').textContent"), "ui_passthrough", '"jsonrpc": "2.0"');

    // The stages: as they are resolved, and how long each took.
    await click("#detail .explained > summary");
    has(
      await text("#detail .explained"),
      "resolve",
      "validate",
      "execute",
      "runs app/tools/report/handler.ts",
      "limits.timeout",
      "default",
    );
    assert.equal(await count("#call-list > .call"), 1);
    await click("#call-list .call > summary");
    const steps = await page.evaluate("[...document.querySelectorAll('#call-list .step > :first-child')].map((one) => one.textContent)");
    for (const stage of ["resolve", "validate", "execute", "serialize"]) assert.ok(steps.includes(stage), steps.join());
    const bars = await page.evaluate(
      "[...document.querySelectorAll('#call-list .step i')].map((one) => [parseFloat(one.style.left), parseFloat(one.style.width)])",
    );
    assert.ok(bars.length >= 4 && bars.every(([left, width]) => left >= 0 && width >= 0 && left + width <= 100.1), quoted(bars));
    assert.ok(
      bars.every(([left], index) => index === 0 || left >= bars[index - 1][0]),
      quoted(bars),
    );
    has(await text("#call-list .call"), "In the server:");

    // A suggested call opens its tool with its arguments; the last call opens with its values.
    await page.evaluate(
      "[...document.querySelectorAll('#detail .rendered li button')].find((one) => one.textContent === 'limited').click()",
    );
    await page.until("document.querySelector('#detail .item').dataset.name === 'limited'");
    assert.equal(await page.evaluate("document.querySelector('#detail [name=amount]').value"), "7");
    await fill("#search", "");
    await page.evaluate("[...document.querySelectorAll('#call-list button')].at(-1).click()");
    await page.until("document.querySelector('#detail .item').dataset.name === 'report'");
    assert.equal(await page.evaluate("document.querySelector('#detail fieldset [name=city]').value"), "Porto");

    // The same as JSON, and back.
    await click("#detail .as-json");
    const raw = await page.evaluate("document.querySelector('#detail [name=arguments]').value");
    assert.deepEqual(JSON.parse(raw), expected);
    has((await submit({ arguments: "{" })).answer, "The arguments are not a JSON object.");
    await fill("#detail [name=arguments]", '{"title":"x","lines":[{"sku":"b"},{"sku":"c"}]}');
    await click("#detail .as-json");
    assert.equal(await count("#detail .element"), 2);
    await page.press("Escape");
    assert.equal(await focused(), "search");
  },

  // What other clients call is in the list, too; what the page itself calls is there once.
  async others() {
    await page.open(url);
    await open("log-it");
    await submit();
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "throws", arguments: {} } };
    const call = (path) =>
      fetch(new URL(path, url), { method: "POST", headers: { "content-type": "application/json" }, body: quoted(message) });
    await (await call("/mcp")).text();
    await page.until("document.querySelector('#call-list [data-name=throws]')");
    await click("#call-list [data-name=throws] > summary");
    has(await text("#call-list [data-name=throws]"), "other client", "failed", "resolve", "execute", "By another client, at");
    await (await call("/mcp")).text();
    await page.until("document.querySelectorAll('#call-list [data-name=throws]').length === 2");
    assert.equal(await count("#call-list > .call"), 3);
  },

  // Whatever the app says is text.
  async hostile() {
    await page.open(url);
    await open("hostile");
    const { failed } = await submit();
    assert.equal(failed, false);
    await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    has(await text("#detail .rendered"), "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "<b>cell</b>");
    assert.equal(await count("img[src='x'], #detail b, iframe, object, embed, form form, base, meta[http-equiv], svg script, svg a"), 0);
    assert.equal(await count("script"), 1);
    assert.deepEqual(await outside(), []);
    const links = await page.evaluate("[...document.querySelectorAll('a')].map((one) => [one.protocol, one.rel, one.target])");
    assert.ok(
      links.length > 0 &&
        links.every(([protocol, rel, target]) => /^(https?|mailto):$/.test(protocol) && rel.includes("noopener") && target === "_blank"),
      quoted(links),
    );
    const active = await page.evaluate(
      "[...document.querySelectorAll('*')].flatMap((one) => [...one.attributes].map(({ name }) => name)).filter((name) => name.startsWith('on') || name === 'srcdoc')",
    );
    assert.deepEqual(active, []);
    assert.equal(await page.evaluate("typeof globalThis.polluted"), "undefined");
    assert.equal(await page.evaluate("({}).polluted === undefined"), true);
  },

  // The page follows the app; what was typed stays.
  async reload() {
    await page.open(url);
    await open("limited");
    await fill("#detail [name=code]", "ABCD");
    await fill("#detail [name=amount]", "9");
    const config = join(argument, "app/tools/limited/config.yaml");
    const again = (inputs) => writeFileSync(config, "description: Changed.\nhandler: ./handler.ts\ninputs:\n" + inputs);
    again("  code: { type: string }\n  fresh: { type: int }\n");
    await page.until("document.querySelector('#detail [name=fresh]')");
    assert.deepEqual(
      await page.evaluate("[document.querySelector('#detail [name=code]').value, document.querySelector('#detail [name=amount]')]"),
      ["ABCD", null],
    );
    has(await text("#detail"), "Changed.");
    await page.until("document.getElementById('status').textContent.startsWith('Reloaded at')");
    // An item that is open and does not change keeps its answer; a new tool is in the list.
    await open("log-it");
    await submit();
    mkdirSync(join(argument, "app/tools/brand-new"));
    writeFileSync(join(argument, "app/tools/brand-new/handler.ts"), "export default () => 1;\n");
    writeFileSync(join(argument, "app/tools/brand-new/config.yaml"), "description: New.\nhandler: ./handler.ts\n");
    await page.until("[...document.querySelectorAll('#lists button .mono')].some((one) => one.textContent === 'brand-new')");
    assert.equal(await count("#detail .answer"), 1);
    // What is wrong with a change is shown until it is mended.
    const brandNew = join(argument, "app/tools/brand-new/config.yaml");
    writeFileSync(brandNew, "description: New.\nhandler: ./handler.ts\nnonsense: <b>1</b>\n");
    await page.until("!document.getElementById('problems').hidden");
    has(await text("#problems"), "`nonsense` is not a key of a tool");
    has(await text("#problems"), "app/tools/brand-new/config.yaml:3:1");
    has(await text("#problems"), "<b>1</b>");
    assert.equal(await count("#detail .answer"), 1);
    writeFileSync(brandNew, "description: New.\nhandler: ./handler.ts\n");
    await page.until("document.getElementById('problems').hidden");
  },

  // Dark by the system's choice, and by the person's own, which is all that the browser keeps.
  async dark() {
    const back = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.prefers("light");
    await page.open(url);
    assert.equal(await back(), "rgb(255, 255, 255)");
    await page.prefers("dark");
    const dark = await back();
    assert.notEqual(dark, "rgb(255, 255, 255)");
    await page.prefers("light");
    await click("#theme");
    assert.equal(await text("#theme"), "Theme: dark");
    assert.equal(await back(), dark);
    await page.open(url + "?again");
    assert.equal(await back(), dark);
    await page.prefers("dark");
    await click("#theme");
    assert.equal(await back(), "rgb(255, 255, 255)");
    await click("#theme");
    assert.equal(await back(), dark);
    assert.deepEqual(await page.evaluate("Object.keys(localStorage)"), ["millrace-theme"]);
  },

  // The pictures of docs/page.md, from the sample shop.
  async shop() {
    await page.screen(1100, 1210);
    await page.prefers("light");
    await page.open(url);
    await open("sales-report");
    await submit();
    await click("#call-list .call > summary");
    await page.evaluate("document.getElementById('main').scrollTop = 1e6");
    await settled();
    writeFileSync(join(argument, "page.png"), await page.picture());
    // One pixel for a pixel, which is a quarter of the bytes.
    await page.screen(390, 780);
    await page.prefers("dark");
    await click("#overview");
    await settled();
    writeFileSync(join(argument, "page-phone.png"), await page.picture());
  },

  // And from the app of this test.
  async charts() {
    await page.screen(1200, 860);
    await page.prefers("dark");
    await page.open(url);
    await open("report");
    await submit();
    await page.evaluate("document.querySelector('#detail .answer').scrollIntoView()");
    await settled();
    writeFileSync(join(argument, "page-charts.png"), await page.picture());
  },

  // The panel of clients has what `millrace connect` prints. ARGUMENT is a file with that, by client.
  async connect() {
    await page.screen(1280, 900);
    await page.open(url);
    await click("#connect");
    await page.until("document.querySelector('#detail .connect pre')");
    assert.equal(await page.evaluate("location.hash"), "#connect");
    const expected = JSON.parse(readFileSync(argument, "utf8"));
    assert.equal(await count("#client option"), Object.keys(expected).length);
    for (const [client, ways] of Object.entries(expected)) {
      await fill("#client", client);
      const seen = await page.evaluate("[...document.querySelectorAll('#detail .way')].map((one) => one.textContent)");
      assert.equal(seen.length, ways.length, client);
      ways.forEach(({ configuration, command, steps }, at) => {
        if (configuration) has(seen[at], configuration.trimEnd());
        for (const word of command ?? []) has(seen[at], word);
        if (steps.length > 0) has(seen[at], steps[0].split("*")[0]);
      });
    }
    await fill("#client", "cursor");
    await click("#detail .way button");
    await page.until("/^(Copied|Marked)/.test(document.querySelector('#detail .copyable [role=status]').textContent)");
    assert.deepEqual(await outside(), []);
    await page.screen(390, 844, true);
    await page.open(url + "#connect");
    await page.until("document.querySelector('#detail .connect pre')");
    assert.deepEqual(await outside(), []);
    assert.deepEqual([await isVisible("#side"), await isVisible("#main")], [false, true]);
    await click("#back");
    assert.deepEqual([await isVisible("#side"), await isVisible("#main")], [true, false]);
  },

  // `serve --page`: the same page, without what is for the person at the machine.
  async served() {
    await page.open(url);
    assert.equal(await page.evaluate("document.body.dataset.calls"), "/mcp");
    await open("report");
    const { failed, answer } = await submit();
    assert.equal(failed, false);
    has(answer, "Sales by month");
    assert.equal(await count("#detail .explained"), 0);
    await click("#call-list .call > summary");
    has(await text("#call-list .call"), "The stages are not known here");
    await open("throws");
    assert.equal((await submit()).details, "");
    await open("locked");
    assert.equal(await isVisible("#detail .locked"), true);
    // How the app is started, and where anything lies, is for a person at the machine.
    await click("#connect");
    await page.until("document.querySelector('#detail .connect pre')");
    assert.equal(await count("#detail .way"), 1);
    const state = await page.evaluate("fetch('/page.json').then((response) => response.text())");
    assert.ok(state.includes('"cursor"') && !state.includes(argument) && !state.includes('"run"'), state);
  },
};

const does = { open, submit, answered, text, count, isVisible, click, fill, focused, has, settled, outside };
const more = moreScenarios({ url, argument, page: () => page, does });
for (const name of Object.keys(more)) assert.ok(!Object.hasOwn(scenarios, name), "two scenarios are called " + name);
Object.assign(scenarios, more);

let page;
let code = 1;
// What ends a run that would hang; nothing waits for it otherwise.
const patience = setTimeout(() => {
  console.error("the page did not do what was awaited:", page?.complaints);
  page?.end();
  process.exit(1);
}, 90_000);
try {
  page = await Browser.start(browserPath);
  await scenarios[scenario]();
  // Nothing was blocked, nothing was thrown. An answer with a status of 4xx is logged by the browser, too.
  assert.deepEqual(
    page.complaints.filter((line) => !line.startsWith("Failed to load resource")),
    [],
  );
  // No request to anywhere else.
  const elsewhere = page.requests.filter((address) => !address.startsWith(url) && !address.startsWith("data:"));
  assert.deepEqual(elsewhere, []);
  code = 0;
} catch (error) {
  console.error(error, page?.complaints);
} finally {
  clearTimeout(patience);
  page?.end();
  process.exit(code);
}
