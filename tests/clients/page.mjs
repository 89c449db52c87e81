// Opens the page of `millrace dev` in a real browser and reports what a person sees there, as JSON.
// Usage: node page.mjs BROWSER URL KEY. It speaks the browser's own protocol (CDP); nothing is installed for it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [browserPath, url, key] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "millrace-page-"));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--user-data-dir=" + profile];
const browser = spawn(browserPath, [...flags, "about:blank"], { stdio: ["ignore", "ignore", "pipe"], detached: true });

async function endpoint() {
  const said = [];
  for await (const line of createInterface({ input: browser.stderr })) {
    said.push(line);
    const found = line.match(/DevTools listening on (ws:\S+)/);
    if (found) return found[1];
  }
  throw new Error("the browser did not start: " + said.join("\n"));
}

const socket = new WebSocket(await endpoint());
await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
browser.stderr.resume();
const waiting = new Map();
const complaints = [];
let id = 0;
let session;
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.method === "Runtime.exceptionThrown") complaints.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text);
  if (message.method === "Log.entryAdded" && message.params.entry.level === "error") complaints.push(message.params.entry.text);
  waiting.get(message.id)?.(message);
};
function send(method, params = {}) {
  const own = ++id;
  socket.send(JSON.stringify({ id: own, method, params, ...(session && { sessionId: session }) }));
  return new Promise((resolve, reject) => {
    waiting.set(own, ({ result, error }) => (error ? reject(new Error(method + ": " + error.message)) : resolve(result)));
  });
}

// Runs an expression in the page. It waits for its promise.
async function evaluate(expression) {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

// Resolves in the page once `condition` holds, which is looked at whenever the page changes.
const until = (condition) => evaluate(`new Promise((resolve) => {
  const look = () => { if (${condition}) { observer.disconnect(); resolve(true); } };
  const observer = new MutationObserver(look);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  look();
})`);

const box = (name) => `document.querySelector('section[data-name=' + ${JSON.stringify(JSON.stringify(name))} + ']')`;
const fillIn = (selector, value) => evaluate(`(() => {
  const control = ${selector};
  control.value = ${JSON.stringify(value)};
  control.dispatchEvent(new Event("input", { bubbles: true }));
})()`);

// Fills in a form and submits it; what the person then sees.
async function submit(name, values = {}) {
  for (const [field, value] of Object.entries(values)) await fillIn(`${box(name)}.querySelector('[name="${field}"]')`, value);
  await evaluate(`${box(name)}.querySelector("button").click()`);
  await until(`${box(name)}.querySelector("pre.answer, pre.failed")`);
  return evaluate(`(() => {
    const answer = ${box(name)}.querySelector("pre.answer, pre.failed");
    return { answer: answer.innerText, failed: answer.classList.contains("failed"), log: ${box(name)}.querySelector("pre.log")?.innerText ?? "",
      details: ${box(name)}.querySelector("pre.details")?.innerText ?? "" };
  })()`);
}

async function report() {
  const { targetInfos } = await send("Target.getTargets");
  const page = targetInfos.find(({ type }) => type === "page");
  session = (await send("Target.attachToTarget", { targetId: page.targetId, flatten: true })).sessionId;
  await send("Runtime.enable");
  await send("Log.enable");
  await send("Page.enable");
  await send("Emulation.setDeviceMetricsOverride", { width: 390, height: 844, deviceScaleFactor: 2, mobile: true });
  await send("Page.navigate", { url });
  // The frame may still hold the blank page.
  while (!(await evaluate("location.href !== 'about:blank' && document.readyState === 'complete'"))) continue;
  await until("document.body.dataset.ready");
  const seen = {};
  seen.title = await evaluate("document.title");
  seen.text = await evaluate("document.body.innerText");
  seen.address = await evaluate("document.getElementById('address').innerText");
  seen.width = await evaluate("document.documentElement.scrollWidth");
  seen.outside = await evaluate(`[...document.querySelectorAll("section *")].filter((inner) => {
    const outer = inner.closest("section").getBoundingClientRect();
    const { left, right, width } = inner.getBoundingClientRect();
    return width > 0 && (left < outer.left || right > outer.right);
  }).map((inner) => inner.outerHTML.slice(0, 120))`);
  seen.foreign = await evaluate("document.querySelectorAll('img, b, iframe').length");
  seen.logging = await submit("log-it");
  seen.thrown = await submit("throws");
  seen.thrownLater = await submit("throws-later");
  seen.invalid = await submit("limited", { tags: "[" });
  seen.lockedHint = await evaluate(`${box("locked")}.querySelector(".locked").checkVisibility()`);
  seen.withoutKey = await submit("locked");
  await fillIn("document.getElementById('key')", key);
  seen.hintWithKey = await evaluate(`${box("locked")}.querySelector(".locked").checkVisibility()`);
  seen.withKey = await submit("locked");
  seen.otherHeader = await submit("own-plugin");
  await fillIn("document.getElementById('header')", "X-Caller");
  await fillIn("document.getElementById('key')", "ann");
  seen.ownHeader = await submit("own-plugin");
  seen.prompt = await submit("greet", { name: "<b>Ann</b>" });
  seen.resource = await submit("docs://manual");
  seen.template = await submit("docs://pages/{+path}", { path: "a b/c" });
  seen.widthAfter = await evaluate("document.documentElement.scrollWidth");
  seen.foreignAfter = await evaluate("document.querySelectorAll('img, b, iframe').length");
  seen.complaints = complaints;
  return seen;
}

function end(code) {
  // The browser's processes are a group of their own; none of them has anything to keep.
  try { process.kill(-browser.pid, "SIGKILL"); } catch { /* It has ended. */ }
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}

// What ends a run that would hang; nothing waits for it otherwise.
setTimeout(() => { console.error("the page did not do what was awaited"); end(1); }, 60_000);
try {
  console.log(JSON.stringify(await report(), null, 2));
  end(0);
} catch (error) {
  console.error(error);
  end(1);
}
