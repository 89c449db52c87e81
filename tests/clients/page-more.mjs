// More scenarios of the page, on the app `tests/page-more`: its first screen, forms, tables, charts, failures, calls, tests, and whether
// everybody can use it. `page` is the browser, `does` what a person does there; see page.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const quoted = JSON.stringify;

export function moreScenarios({ url, argument, page: browser, does }) {
  const { open, submit, answered, text, count, isVisible, click, fill, focused, has, settled, outside } = does;
  const page = { evaluate: (code) => browser().evaluate(code), until: (code) => browser().until(code) };
  const press = (...keys) => browser().press(...keys);

  const value = (selector) => page.evaluate(`document.querySelector(${quoted(selector)}).value`);
  const texts = (selector) => page.evaluate(`[...document.querySelectorAll(${quoted(selector)})].map((one) => one.textContent)`);
  const names = () =>
    page.evaluate(
      "[...document.querySelectorAll('#lists button')].filter((one) => one.checkVisibility()).map((one) => one.querySelector('.mono').textContent)",
    );
  const push = (label) =>
    page.evaluate(
      `[...document.querySelectorAll("#main button, #side button, header button")].find((one) => one.checkVisibility() && (one.getAttribute("aria-label") ?? one.textContent) === ${quoted(label)}).click()`,
    );
  const start = async (address = url) => {
    await browser().screen(1280, 900);
    await browser().open(address);
  };
  // What is read of a field: its problem, and whether the control says so to those who hear the page.
  const fieldOf = (name) =>
    page.evaluate(`(() => {
      const control = document.querySelector('#detail [name=' + ${quoted(name)} + ']');
      const named = (control.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent);
      const problem = control.closest(".field").querySelector(":scope > .problem");
      return { isInvalid: control.getAttribute("aria-invalid") === "true", isRequired: control.required, named, problem: problem.hidden ? "" : problem.textContent };
    })()`);
  const call = async () => {
    await click("#detail form button.run");
    return answered();
  };
  const sent = async () => JSON.parse(await page.evaluate("document.querySelector('#detail .sent').textContent")).params.arguments;
  const measured = (name) => page.evaluate(`performance.getEntriesByName(${quoted(name)}).at(-1)?.duration`);
  // Keeps what would be copied or saved.
  const keepCopies = () =>
    page.evaluate(`(() => {
      globalThis.kept = [];
      Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => void globalThis.kept.push(text) } });
      const original = URL.createObjectURL;
      URL.createObjectURL = (blob) => { void blob.text().then((text) => globalThis.kept.push(text)); return original.call(URL, blob); };
    })()`);
  const lastCopy = async (number) => {
    // The clipboard is no part of the document: something of it has changed when it was used.
    await page.until(`globalThis.kept.length >= ${number}`);
    return page.evaluate("globalThis.kept.at(-1)");
  };

  // axe-core, run beside the page: its policy lets no script in.
  const axePath = join(import.meta.dirname, "../../target/tools/site-judges/node_modules/axe-core/axe.min.js");
  async function accessible(state) {
    await settled();
    await page.evaluate(readFileSync(axePath, "utf8") + "; 0");
    const found = await page.evaluate(
      "axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))",
    );
    assert.deepEqual(found, [], state);
  }

  return {
    // The first screen.
    async overview() {
      await start();
      has(
        await text("#detail"),
        "Overview",
        "tools",
        "1\nprompt",
        "0\nresources",
        "A workshop. Call paint first.",
        "Next steps",
        "Nothing has failed",
      );
      assert.equal((await texts("#detail .counts strong"))[0], String((await names()).length - 1), "every tool is counted");
      assert.deepEqual(await texts("#detail .steps button"), ["Call a tool", "Connect your client", "Run the tests"]);
      assert.equal(await page.evaluate("document.querySelector('#detail').textContent.includes('`')"), false, "back-ticks are code");
      await open("orders-refuse");
      await submit();
      await push("Overview");
      has(await text("#detail .failures"), "orders-refuse", "OUT_OF_STOCK");
      assert.equal(await isVisible("#call-list .call"), true, "the last calls are below");
      await page.evaluate("document.querySelector('#detail .failures button').click()");
      await page.until("document.querySelector('#detail .item')?.dataset.name === 'orders-refuse'");
      await push("Overview");
      await push("Call a tool");
      await page.until("document.querySelector('#detail form')");
      assert.equal(await page.evaluate("document.querySelector('#detail').contains(document.activeElement)"), true);
    },

    // The failure of another client comes to the first screen by itself.
    async elsewhere() {
      await start();
      const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "orders-refuse", arguments: {} } };
      await (
        await fetch(new URL("/mcp", url), { method: "POST", headers: { "content-type": "application/json" }, body: quoted(message) })
      ).text();
      await page.until("document.querySelector('#detail .failures')");
      has(await text("#detail .failures"), "orders-refuse");
    },

    // The list: by folder, quiet, and its numbers follow the search.
    async list() {
      await start();
      assert.deepEqual(await texts("#lists section[data-kind=tool] h3"), ["orders/", "shapes/"]);
      const all = (await names()).length - 1;
      assert.equal((await texts("#lists h2"))[0], `Tools (${all})`);
      assert.ok(!(await text("#lists")).includes("read-only"), "what nearly every tool is, is not said");
      has(await text("#lists"), "destructive", "asks for a confirmation");
      await fill("#search", "orders");
      assert.equal((await texts("#lists h2"))[0], `Tools (4 of ${all})`);
      assert.deepEqual(await names(), ["orders-big", "orders-place", "orders-refuse", "orders-sales"]);
      has(await text("#said"), "4 entries");
      await fill("#search", "");
      assert.equal((await texts("#lists h2"))[0], `Tools (${all})`);
    },

    // With the keyboard, the list is one stop, and can be skipped.
    async skip() {
      await start(url + "#tool/orders-place");
      await press("Tab");
      assert.equal(await focused(), "skip");
      assert.equal(await page.evaluate("document.activeElement.getBoundingClientRect().top >= 0"), true, "it is seen");
      await press("Enter");
      assert.equal(await page.evaluate("document.activeElement.name"), "item");
      assert.equal(await count("#lists button[tabindex='0']"), 1);
      assert.equal(await page.evaluate("document.querySelector('#lists button[tabindex=\"0\"]').dataset.key"), "tool/orders-place");
    },

    // What is required is marked before the call, and what is wrong stands beside its field.
    async required() {
      await start();
      await open("orders-place");
      has(await text("#detail form"), "* is required", "item *", "email *");
      assert.deepEqual([(await fieldOf("item")).isRequired, (await fieldOf("count")).isRequired], [true, false]);
      await fill("#detail [name=item]", "");
      await fill("#detail [name=email]", "nobody");
      await click("#detail form button.run");
      const [item, email] = [await fieldOf("item"), await fieldOf("email")];
      has(item.problem, "is required");
      has(email.problem, "must match");
      assert.ok(
        item.isInvalid && email.isInvalid && item.named.includes(item.problem) && item.named.includes("What is ordered"),
        quoted(item),
      );
      assert.equal(await page.evaluate("document.activeElement.name"), "item");
      has(await text("#detail .wrong"), "2 fields are not");
      has(await text("#said"), "2 fields are not");
      assert.equal(await count("#detail .answer"), 0, "nothing was sent");
      // What is mended is marked no more, while one types.
      await fill("#detail [name=item]", "tea");
      assert.deepEqual([(await fieldOf("item")).problem, (await fieldOf("item")).isInvalid], ["", false]);
      // It can be sent as it is; what the server refuses stands beside its field, too.
      await push("Send it all the same");
      const { failed } = await answered();
      assert.equal(failed, true);
      const refused = await fieldOf("email");
      assert.ok(refused.isInvalid && !refused.problem.startsWith("must match"), quoted(refused));
      has(await text("#detail .wrong"), "The server refused 1 field");
    },

    // Objects and lists in a form, and what is wrong within them.
    async nested() {
      await start();
      await open("shapes-measure");
      await fill("#detail [name=city]", "L");
      await fill("#detail [name=zip]", "12");
      await click("#detail .elements .add");
      await fill("#detail .element [name=count]", "0");
      await click("#detail form button.run");
      has((await fieldOf("city")).problem, "at least 2 characters");
      has((await fieldOf("zip")).problem, "must match");
      has((await fieldOf("count")).problem, "at least 1");
      has((await fieldOf("sku")).problem, "is required");
      await fill("#detail [name=size]", "2.5");
      await fill("#detail [name=city]", "Lisbon");
      await fill("#detail [name=zip]", "12345");
      await fill("#detail .element [name=count]", "3");
      await fill("#detail .element [name=sku]", "a");
      assert.equal((await call()).failed, false);
      assert.deepEqual(await sent(), { size: 2.5, address: { city: "Lisbon", zip: "12345" }, parts: [{ sku: "a", count: 3 }] });
    },

    // A choice between objects at the top of a schema.
    async union() {
      await start();
      await open("shapes-paint");
      assert.equal(await isVisible("#detail [name=arguments]"), false, "it has a form");
      assert.deepEqual(await texts("#detail .alternative option"), ["Circle", "Square"]);
      await fill("#detail [name=color]", "blue");
      assert.deepEqual([await count("#detail [name=radius]"), await count("#detail [name=side]")], [1, 0]);
      await fill("#detail .alternative", "1");
      assert.deepEqual([await count("#detail [name=radius]"), await count("#detail [name=side]")], [0, 1]);
      await fill("#detail [name=side]", "4");
      assert.equal((await call()).failed, false);
      assert.deepEqual(await sent(), { color: "blue", side: 4 });
      // Back from JSON, the alternative that fits is chosen.
      await click("#detail .as-json");
      await fill("#detail [name=arguments]", '{"color":"red","radius":2}');
      await click("#detail .as-json");
      assert.deepEqual([await value("#detail .alternative"), await value("#detail [name=radius]")], ["0", "2"]);
    },

    // A choice for one value, and what has no form at all.
    async alternatives() {
      await start();
      await open("shapes-measure");
      await fill("#detail [name=city]", "Porto");
      await fill("#detail .alternative", "1");
      await fill("#detail [name=width]", "3");
      await click("#detail form button.run");
      has((await fieldOf("height")).problem, "is required");
      await fill("#detail [name=height]", "4");
      assert.equal((await call()).failed, false);
      assert.deepEqual((await sent()).size, { width: 3, height: 4 });
      await open("free");
      assert.equal(await isVisible("#detail [name=arguments]"), true, "what has no form is typed as JSON");
      await fill("#detail [name=arguments]", '{"a":[1]}');
      assert.equal((await call()).failed, false);
      assert.deepEqual(await sent(), { a: [1] });
      await open("quiet");
      assert.equal(await isVisible("#detail [name=arguments]"), false);
    },

    // Examples are filled in where one asks for them; what was typed stays.
    async examples() {
      await start();
      await open("shapes-measure");
      await fill("#detail [name=city]", "Faro");
      await push("Fill in examples");
      assert.equal(await value("#detail [name=city]"), "Faro");
      assert.equal((await call()).failed, false, "the examples fit");
      await open("orders-place");
      await fill("#detail [name=item]", "");
      await push("Fill in examples");
      assert.deepEqual([await value("#detail [name=item]"), await value("#detail [name=email]")], ["tea", "ann@example.com"]);
    },

    // The server's suggestions for an argument of a prompt.
    async completion() {
      await start();
      await open("compose");
      const options = () => page.evaluate("[...document.querySelector('#detail [name=lang]').list.options].map((one) => one.value)");
      await page.evaluate("document.querySelector('#detail [name=lang]').focus()");
      await page.until("document.querySelector('#detail [name=lang]').list.options.length === 3");
      await fill("#detail [name=lang]", "r");
      await page.until("document.querySelector('#detail [name=lang]').list.options.length === 2");
      assert.deepEqual(await options(), ["romanian", "russian"]);
      await fill("#detail [name=lang]", "german");
      has((await call()).answer, "Write in german.");
    },

    // A failure in words for people; the text for models stands where the model is shown.
    async failure() {
      await start();
      await open("orders-refuse");
      const { answer, model, failed } = await submit();
      assert.equal(failed, true);
      has(answer, "OUT_OF_STOCK", "Nothing is left of tea.", "What to do: Order coffee.", "Stage: execute");
      assert.ok(!answer.includes("<tool_error"), answer);
      has(model.join(""), "<tool_error", "<recovery>Order coffee.</recovery>");
      assert.equal(await page.evaluate("document.querySelector('#detail').innerText.split('<recovery>').length"), 2, "it is there once");
      has(await text("#said"), "Failed: OUT_OF_STOCK");
    },

    // The focus is where something new is.
    async focus() {
      await start();
      await open("orders-place");
      await fill("#detail [name=item]", "tea");
      await page.evaluate("document.querySelector('#detail [name=item]').focus()");
      await press("Enter", 2);
      await answered();
      assert.ok((await page.evaluate("document.activeElement.className")).includes("rendered"));
      has(await text("#said"), "Answer in");
      await open("quiet");
      await page.evaluate("document.activeElement.blur()");
      await press("Enter", 2);
      await answered();
      assert.ok((await page.evaluate("document.activeElement.className")).includes("rendered"), "a tool without fields, too");
      await open("ask");
      await submit();
      assert.equal(await page.evaluate("document.querySelector('#detail .questions').contains(document.activeElement)"), true);
      has(await text("#said"), "The tool asks");
      await click("#detail .questions button.run");
      await page.until("!document.querySelector('#detail .questions') && document.querySelector('#detail .answer')");
      assert.ok((await page.evaluate("document.activeElement.className")).includes("rendered"));
      await open("orders-refuse");
      await submit();
      assert.ok((await page.evaluate("document.activeElement.className")).includes("failed"));
    },

    // A table is sorted, filtered, and its numbers are written alike.
    async table() {
      await start();
      await open("orders-sales");
      await submit();
      const column = (number) => texts(`#detail .rows tbody td:nth-child(${number})`);
      assert.deepEqual(await column(3), ["7,618,910.00", "7,549,631.80", "12.00", "98,765.43", "1.00", "2.00"]);
      assert.equal((await column(1))[0], "1001", "a number that names something has no groups");
      assert.equal(
        await page.evaluate(
          "[...document.querySelectorAll('#detail td.date')].every((one) => one.getClientRects().length === 1 && getComputedStyle(one).whiteSpace === 'nowrap')",
        ),
        true,
      );
      const sort = () => page.evaluate("document.querySelector('#detail th:nth-child(3) button').click()");
      const order = () => page.evaluate("document.querySelector('#detail th:nth-child(3)').ariaSort");
      await sort();
      assert.deepEqual([(await column(1)).join(), await order()], ["1005,1006,1003,1004,1002,1001", "ascending"]);
      await sort();
      assert.deepEqual([(await column(1)).join(), await order()], ["1001,1002,1004,1003,1006,1005", "descending"]);
      await sort();
      assert.deepEqual([(await column(1))[0], await order()], ["1001", null]);
      await page.evaluate("document.querySelector('#detail th:nth-child(5) button').click()");
      assert.equal((await column(5)).at(-1), "null", "what is not there comes last");
      await fill("#detail .row-filter", "tea");
      assert.deepEqual(await column(1), ["1005"]);
      has(await text("#detail .rows .count"), "1 of 6 rows");
    },

    // What is copied and saved is what is shown. A spreadsheet gets no formula.
    async csv() {
      await start();
      await keepCopies();
      await open("orders-sales");
      await submit();
      await fill("#detail .row-filter", "2026-0");
      await click("#detail .as-csv");
      await page.until("document.querySelector('#detail .table-tools [role=status]').textContent.startsWith('Saved')");
      while ((await page.evaluate("globalThis.kept.length")) === 0) continue;
      const saved = await lastCopy(1);
      const [head, first, second, , fourth] = saved.split("\r\n");
      assert.equal(head, "id,month,revenue,share,note,much longer name");
      assert.equal(first, '1001,2026-01-31,7618910,0.5,"first, ""quoted""",a');
      assert.equal(second, "1002,2026-02-28,7549631.8,12.25,'=SUM(A1),b");
      assert.ok(fourth.startsWith('1004,2026-04-30,98765.43,100,"line\nend"'), fourth);
      await fill("#detail .row-filter", "coffee");
      await push("Copy rows");
      await page.until("document.querySelector('#detail .table-tools [role=status]').textContent.startsWith('Copied')");
      assert.equal((await lastCopy(2)).split("\n")[1], "1006\t2026-06-30\t2\t8\tcoffee\tf");
    },

    // 1,000 rows of 30 columns: those in sight alone are elements, and each change is quick.
    async long() {
      await start();
      await open("orders-big");
      assert.equal((await submit()).failed, false);
      const rows = await count("#detail .rows tbody tr:not(.spacer)");
      assert.ok(rows > 10 && rows < 80, String(rows));
      assert.equal(await page.evaluate("document.querySelector('#detail .rows table').getAttribute('aria-rowcount')"), "1001");
      assert.equal(await count("#detail .answer.stacked"), 1, "it takes the whole width");
      await page.evaluate("document.querySelector('#detail th:nth-child(4) button').click()");
      const sorted = await measured("millrace-table");
      await fill("#detail .row-filter", "text 5");
      const filtered = await measured("millrace-table");
      assert.ok(sorted < 200 && filtered < 200, `${sorted} ms to sort, ${filtered} ms to filter`);
      await fill("#detail .row-filter", "");
      // From the input to what is drawn of it.
      const drawn = await page.evaluate(`(async () => {
        const began = performance.now();
        document.querySelector("#detail th:nth-child(6) button").click();
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        return performance.now() - began;
      })()`);
      assert.ok(drawn < 400, drawn + " ms until it is drawn");
      console.log(`1,000 rows: ${sorted} ms to sort, ${filtered} ms to filter, ${drawn} ms until it is drawn`);
      await page.evaluate("document.querySelector('#detail .scroll').scrollTop = 1e6");
      await page.until(
        "[...document.querySelectorAll('#detail .rows tbody tr')].some((one) => one.getAttribute('aria-rowindex') === '1001')",
      );
      assert.deepEqual(await outside(), []);
    },

    // Hundreds of tools: the list follows what is typed at once, and draws what is in sight. Every tool is there for who hears the page, and for
    // the browser's own search. ARGUMENT is an app with tools `tool-0`, `tool-1`, …
    async many() {
      await start();
      const all = Number((await texts("#lists h2"))[0].match(/\((\d+)\)/)[1]);
      assert.ok(all >= 500, String(all));
      const drawn = "[...document.querySelectorAll('#lists .mono')].filter((one) => one.checkVisibility({ contentVisibilityAuto: true })).length";
      const inSight = await page.evaluate(drawn);
      assert.ok(inSight > 5 && inSight < 100, `${inSight} of ${all} are drawn`);
      const { nodes } = await browser().send("Accessibility.getFullAXTree");
      const heard = nodes.filter(({ role, name }) => role?.value === "button" && /^tool-\d+ Does the thing/.test(name?.value));
      assert.equal(heard.length, all, "tools that are heard");
      // From the input to what is drawn of it.
      const type = (words) =>
        page.evaluate(`(async () => {
          const search = document.getElementById("search");
          const began = performance.now();
          search.value = ${quoted(words)};
          search.dispatchEvent(new Event("input", { bubbles: true }));
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          return Math.round(performance.now() - began);
        })()`);
      const searched = [];
      for (const words of ["t", "tool-49", "nothing", ""]) searched.push(await type(words));
      const own = Math.round(await measured("millrace-list"));
      await type("tool-49");
      assert.equal((await texts("#lists h2"))[0], `Tools (${(await names()).length} of ${all})`);
      assert.ok((await names()).length >= 11);
      await type("");
      assert.ok(own < 300 && Math.max(...searched) < 600, `${own} ms, ${searched} ms until it is drawn`);
      // The last one is reached by the keyboard and by the browser's search.
      const last = `tool-${all - 1}`;
      assert.equal(await page.evaluate(`getSelection().removeAllRanges(); find(${quoted(last)})`), true, "the browser's search finds it");
      await page.evaluate("[...document.querySelectorAll('#lists button')].at(-2).focus()");
      await press("ArrowDown");
      const [focusedTop, bottom] = await page.evaluate("[document.activeElement.getBoundingClientRect().bottom, innerHeight]");
      assert.ok(focusedTop <= bottom + 1, "what has the focus is in sight");
      console.log(`${all} tools: ${inSight} drawn, ${searched.join(", ")} ms until a search is drawn, ${own} ms of it the page's`);
      await open(last);
      assert.equal((await submit()).failed, false);
    },

    // Charts: numbers that people read, labels that do not touch, colors that differ, names, and what a part says under the pointer.
    async readable() {
      await start();
      await open("charts");
      await submit();
      const labels = await page.evaluate(
        "[...document.querySelector('#detail figure.chart svg').querySelectorAll('text')].map((one) => one.textContent)",
      );
      assert.ok(
        labels.includes("8 M") && labels.includes("EUR") && labels.includes("month") && !labels.some((one) => /e\+|…/.test(one)),
        labels.join(),
      );
      const touching = await page.evaluate(`[...document.querySelectorAll("#detail figure.chart svg")].flatMap((svg) => {
        const boxes = [...svg.querySelectorAll("text")].map((one) => one.getBoundingClientRect());
        const all = boxes.flatMap((a, at) => boxes.slice(at + 1).map((b) => [a, b]));
        return all.filter(([a, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2);
      }).length`);
      assert.equal(touching, 0, "labels touch");
      const colors = await page.evaluate(
        `[...document.querySelectorAll("#detail figure.chart")].map((figure) => [...figure.querySelectorAll(".legend rect")].map((one) => getComputedStyle(one).fill))`,
      );
      for (const own of colors) assert.equal(new Set(own).size, own.length, own.join());
      assert.deepEqual(
        colors.map(({ length }) => length),
        [1, 12, 15],
      );
      has((await texts("#detail .legend"))[1], "part 0", "3 others");
      const titles = await page.evaluate(
        "[...document.querySelectorAll('#detail figure.chart > svg')].map((one) => one.getAttribute('aria-label'))",
      );
      assert.deepEqual(titles.slice(0, 2), ["Revenue", "Parts"]);
      has(titles[2], "Bars: s0");
      // Before the table, which has the same for the model.
      assert.equal(
        await page.evaluate(
          "Boolean(document.querySelector('#detail figure.chart').compareDocumentPosition(document.querySelector('#detail .rows')) & 4)",
        ),
        true,
      );
      await page.evaluate(`(() => {
        const dot = document.querySelector("#detail figure.chart circle");
        dot.scrollIntoView({ block: "center" });
        const { x, y } = dot.getBoundingClientRect();
        dot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: x, clientY: y }));
      })()`);
      has(await text("#detail .tooltip:not([hidden])"), "revenue: 2022-01: 6,000,000");
    },

    // A call from before is opened again with its values, and copied for elsewhere: what is copied does the same. ARGUMENT is the app.
    async again() {
      await start();
      await keepCopies();
      await open("orders-place");
      await fill("#detail [name=item]", "it's tea");
      await submit();
      await fill("#detail [name=item]", "other");
      await push("Open with these values");
      assert.equal(await value("#detail [name=item]"), "it's tea");
      const copy = async (number, label) => {
        await push(label);
        await page.until(`document.querySelector('#detail .copies [role=status]').textContent.startsWith('Copied')`);
        return lastCopy(number);
      };
      const run = (command) =>
        execFileSync("sh", ["-c", command], {
          env: { ...process.env, PATH: join(argument, "bin") + ":" + process.env.PATH },
          stdio: ["ignore", "pipe", "ignore"],
        }).toString();
      has(run(await copy(1, "Copy as curl")), '"jsonrpc":"2.0"', "it's tea");
      const command = await copy(2, "Copy as millrace call");
      has(command, "--app", "orders-place");
      has(run(command), "it's tea");
      const test = await copy(3, "Copy as a test");
      const [, path] = test.match(/^# (\S+)\n/);
      assert.equal(path, "app/tools/orders/place/place.test.yaml");
      writeFileSync(join(argument, path), test);
      await push("Tests");
      await page.until("document.querySelectorAll('#detail .test').length === 3");
      await push("Run the test “orders-place answers”");
      await page.until("document.querySelector('#detail .test.passed, #detail .test.failed')");
      has(await text("#detail .test.passed"), "orders-place answers");
    },

    // The tests of the app: all, one, and why one fails.
    async tests() {
      await start();
      await push("Tests");
      await page.until("document.querySelectorAll('#detail .test').length === 3");
      assert.equal(await page.evaluate("location.hash"), "#tests");
      has(
        await text("#detail"),
        "app/tools/orders/sales/sales.test.yaml",
        "six months",
        "not run",
        "Tools without a test:",
        "shapes-paint",
      );
      await push("Run the test “six months”");
      await page.until("document.querySelector('#detail .test.passed')");
      assert.deepEqual([await count("#detail .test.passed"), await count("#detail .test.failed")], [1, 0]);
      has(await text("#detail .told"), "1 test: 1 passed");
      await push("Run all tests");
      await page.until("document.querySelector('#detail .test.failed')");
      has(await text("#detail .told"), "3 tests: 2 passed, 1 failed");
      has(await text("#detail .test.failed"), "a month that nobody has seen", "sales.test.yaml:5:", 'does not contain "1999-01"');
      assert.ok((await page.evaluate("document.activeElement.className")).includes("told"));
      // A test that was written meanwhile is there.
      writeFileSync(
        join(argument, "app/tools/quiet/quiet.test.yaml"),
        "tests:\n  - name: a new one\n    expect: { content: { contains: got } }\n",
      );
      await push("Overview");
      await push("Tests");
      await page.until("document.querySelectorAll('#detail .test').length === 4");
      assert.equal(await count("#detail .test.failed"), 1, "what came of the others stays");
      // What does not build says why.
      writeFileSync(join(argument, "app/tools/quiet/config.yaml"), "nonsense: 1\n");
      await push("Run all tests");
      await page.until("document.querySelector('#detail .told').textContent.startsWith('The tests did not run')");
      has(await text("#detail .told"), "`nonsense` is not a key of a tool");
    },

    // `serve --page`: nobody runs tests there.
    async servedTests() {
      await start();
      assert.equal(await isVisible("#tests"), false);
      assert.equal(await page.evaluate("fetch('/page-tests.json').then((response) => response.status)"), 404);
      assert.deepEqual(await texts("#detail .steps button"), ["Call a tool", "Connect your client"]);
      assert.equal(
        await page.evaluate("fetch('/favicon.ico').then((response) => response.status + response.headers.get('content-type'))"),
        "200image/svg+xml",
      );
    },

    // Everybody can use every state, in the light and in the dark, on a desk and on a telephone.
    async accessible() {
      await start();
      const states = {
        "first screen": async () => push("Overview"),
        form: async () => open("orders-place"),
        "errors beside fields": async () => {
          await fill("#detail [name=item]", "");
          await click("#detail form button.run");
        },
        "nested form": async () => {
          await open("shapes-measure");
          await click("#detail .elements .add");
        },
        union: async () => open("shapes-paint"),
        JSON: async () => open("free"),
        prompt: async () => open("compose"),
        "result table": async () => {
          await open("orders-sales");
          await submit();
        },
        "long table": async () => {
          await open("orders-big");
          await submit();
        },
        charts: async () => {
          await open("charts");
          await submit();
        },
        failure: async () => {
          await open("orders-refuse");
          await submit();
          await page.evaluate("document.querySelectorAll('#main details').forEach((one) => { one.open = true; })");
        },
        "question card": async () => {
          await open("ask");
          await submit();
        },
        tests: async () => {
          await push("Tests");
          await page.until("document.querySelectorAll('#detail .test').length === 3");
          await push("Run all tests");
          await page.until("document.querySelector('#detail .test.failed')");
        },
        clients: async () => push("Show how"),
      };
      for (const scheme of ["light", "dark"]) {
        await browser().prefers(scheme);
        for (const [state, reach] of Object.entries(states)) {
          await reach();
          await accessible(state + ", " + scheme);
        }
      }
    },

    async accessiblePhone() {
      await browser().screen(390, 844, true);
      await browser().open(url);
      for (const scheme of ["light", "dark"]) {
        await browser().prefers(scheme);
        await click("#overview");
        await accessible("overview, telephone, " + scheme);
        await click("#back");
        assert.equal(await focused(), "side");
        await accessible("list, telephone, " + scheme);
        assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
      }
      for (const name of ["shapes-measure", "orders-sales", "orders-big", "charts", "orders-refuse", "ask"]) {
        await open(name);
        if (name !== "shapes-measure") await submit();
        await accessible(name + ", telephone");
        assert.deepEqual(await outside(), [], name);
        assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390, name);
      }
      await page.evaluate("location.hash = '#tests'");
      await page.until("document.querySelectorAll('#detail .test').length === 3");
      await accessible("tests, telephone");
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
    },

    // What the page looks like: compared with small pictures, by blocks and with a tolerance. ARGUMENT is their folder.
    async pictures() {
      await start();
      const looks = {
        overview: async () => push("Overview"),
        errors: async () => {
          await open("orders-place");
          await fill("#detail [name=item]", "");
          await click("#detail form button.run");
        },
        union: async () => open("shapes-paint"),
        table: async () => {
          await open("orders-sales");
          await submit();
        },
        charts: async () => {
          await open("charts");
          await submit();
        },
        failure: async () => {
          await open("orders-refuse");
          await submit();
        },
        question: async () => {
          await open("ask");
          await submit();
        },
      };
      const taken = {};
      for (const [name, reach] of Object.entries(looks)) {
        await reach();
        await page.evaluate("document.getElementById('main').scrollTop = 0");
        // What differs from run to run: times.
        await page.evaluate(
          "document.querySelectorAll('#detail h3, #calls').forEach((one) => { if (one.id === 'calls') one.hidden = true; else one.textContent = one.textContent.replace(/ · .*/, ''); })",
        );
        await settled();
        taken[name] = await browser().picture(0.25);
      }
      mkdirSync(argument, { recursive: true });
      await browser().send("Page.navigate", { url: "about:blank" });
      while ((await page.evaluate("location.href")) !== "about:blank") continue;
      const differences = {};
      for (const [name, picture] of Object.entries(taken)) {
        const file = join(argument, name + ".png");
        if (process.env.UPDATE_EXPECT || !existsSync(file)) {
          assert.ok(process.env.UPDATE_EXPECT, file + " is missing: UPDATE_EXPECT=1 writes it");
          writeFileSync(file, picture);
        }
        differences[name] = await difference(readFileSync(file), picture);
      }
      console.log(quoted(differences));
      for (const [name, share] of Object.entries(differences))
        assert.ok(share < 0.03, `${name} differs in ${(share * 100).toFixed(1)} % of its blocks`);
    },
  };

  // The share of blocks of 5 pixels whose mean differs by more than a tenth of the scale.
  function difference(expected, seen) {
    const address = (bytes) => quoted("data:image/png;base64," + bytes.toString("base64"));
    return page.evaluate(`(async () => {
      const load = async (address) => {
        const image = await createImageBitmap(await (await fetch(address)).blob());
        const canvas = new OffscreenCanvas(Math.floor(image.width / 5), Math.floor(image.height / 5));
        const context = canvas.getContext("2d");
        context.imageSmoothingQuality = "high";
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return context.getImageData(0, 0, canvas.width, canvas.height);
      };
      const [a, b] = [await load(${address(expected)}), await load(${address(seen)})];
      if (a.width !== b.width || a.height !== b.height) return 1;
      let other = 0;
      for (let at = 0; at < a.data.length; at += 4) if ([0, 1, 2].some((channel) => Math.abs(a.data[at + channel] - b.data[at + channel]) > 25)) other += 1;
      return other / (a.data.length / 4);
    })()`);
  }
}
