// A real browser, driven by its own protocol (CDP); nothing is installed for it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

// As root in a container, without a graphics card, and without the browser's own requests to its makers.
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--hide-scrollbars",
  "--remote-debugging-port=0",
];

export class Browser {
  #process;
  #profile;
  #socket;
  #session;
  #waiting = new Map();
  #lastId = 0;
  // What the page threw or its policy blocked.
  complaints = [];
  // The addresses of all requests of the page.
  requests = [];

  static async start(path) {
    const browser = new Browser();
    browser.#profile = mkdtempSync(join(tmpdir(), "millrace-page-"));
    const flags = [...FLAGS, "--user-data-dir=" + browser.#profile, "about:blank"];
    browser.#process = spawn(path, flags, { stdio: ["ignore", "ignore", "pipe"], detached: true });
    try {
      await browser.#connect();
    } catch (error) {
      browser.end();
      throw error;
    }
    return browser;
  }

  async #connect() {
    this.#socket = new WebSocket(await this.#endpoint());
    await new Promise((resolve, reject) => {
      this.#socket.onopen = resolve;
      this.#socket.onerror = reject;
    });
    this.#process.stderr.resume();
    this.#socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    const { targetInfos } = await this.send("Target.getTargets");
    const page = targetInfos.find(({ type }) => type === "page");
    this.#session = (await this.send("Target.attachToTarget", { targetId: page.targetId, flatten: true })).sessionId;
    for (const domain of ["Runtime", "Log", "Page", "Network"]) await this.send(domain + ".enable");
  }

  async #endpoint() {
    const said = [];
    for await (const line of createInterface({ input: this.#process.stderr })) {
      said.push(line);
      const found = line.match(/DevTools listening on (ws:\S+)/);
      if (found) return found[1];
    }
    throw new Error("the browser did not start: " + said.join("\n"));
  }

  #take(message) {
    const { method, params } = message;
    if (method === "Runtime.exceptionThrown")
      this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") this.complaints.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Page.javascriptDialogOpening") {
      this.complaints.push("a dialog: " + params.message);
      void this.send("Page.handleJavaScriptDialog", { accept: true });
    }
    this.#waiting.get(message.id)?.(message);
  }

  send(method, params = {}) {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params, ...(this.#session && { sessionId: this.#session }) }));
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        this.#waiting.delete(id);
        if (error) reject(new Error(method + ": " + error.message));
        else resolve(result);
      });
    });
  }

  // Runs an expression in the page. It waits for its promise.
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error((exceptionDetails.exception?.description ?? exceptionDetails.text) + "\nin " + expression);
    return result.value;
  }

  // Resolves in the page once `condition` holds, which is looked at whenever the page changes.
  until(condition) {
    return this.evaluate(`new Promise((resolve) => {
      const look = () => { if (${condition}) { observer.disconnect(); resolve(true); } };
      const observer = new MutationObserver(look);
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      look();
    })`);
  }

  async screen(width, height, mobile = false) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile });
  }

  async prefers(scheme) {
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  }

  async open(url) {
    await this.send("Page.navigate", { url });
    // The frame may still hold the page before.
    while (!(await this.evaluate("location.href !== 'about:blank' && document.readyState === 'complete'"))) continue;
    await this.until("document.body.dataset.ready");
  }

  async press(key, modifiers = 0) {
    const codes = { Enter: 13, Tab: 9, Escape: 27, ArrowUp: 38, ArrowDown: 40, "/": 191 };
    const text = key === "Enter" && modifiers === 0 ? "\r" : key.length === 1 && modifiers === 0 ? key : undefined;
    const event = { key, modifiers, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0), ...(text && { text }) };
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...event });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event, text: undefined });
  }

  async type(text) {
    await this.send("Input.insertText", { text });
  }

  // What is seen, as a PNG; `scale` makes it smaller.
  async picture(scale) {
    const size = scale && (await this.evaluate("[innerWidth, innerHeight]"));
    const clip = scale && { x: 0, y: 0, width: size[0], height: size[1], scale };
    const { data } = await this.send("Page.captureScreenshot", { format: "png", ...(clip && { clip }) });
    return Buffer.from(data, "base64");
  }

  end() {
    // The browser's processes are a group of their own; none of them has anything to keep.
    try {
      process.kill(-this.#process.pid, "SIGKILL");
    } catch {
      /* It has ended. */
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
