// The client: one request at a time to the MCP endpoint, as any client makes it.

// Where this page calls: on this machine, that gives more about a call than clients get.
const endpoint = document.body.dataset.calls;
const requestHeaders = document.getElementById("headers");
const revision = document.getElementById("revision");
let lastId = 0;

// The header fields that a person filled in. They are nowhere but in these inputs.
function credentials() {
  const rows = [...requestHeaders.querySelectorAll(".header-row")].map((row) =>
    [...row.querySelectorAll("input")].map((input) => input.value),
  );
  return rows.filter(([name, value]) => name.trim() !== "" && value !== "");
}

// A text as the value of a header field.
function fieldValue(text) {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?")) return text;
  return "=?base64?" + btoa(String.fromCharCode(...new TextEncoder().encode(text))) + "?=";
}

// What a request of the newer revision has besides: fields that mirror its body, and what the client can do.
function asModern(method, params, headers, mirrored) {
  headers.set("mcp-protocol-version", "2026-07-28");
  headers.set("mcp-method", method);
  const name = params.name ?? params.uri;
  if (name !== undefined) headers.set("mcp-name", fieldValue(name));
  for (const [field, value] of mirrored) headers.set("mcp-param-" + field, fieldValue(String(value)));
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, sampling: {}, roots: {} },
    "io.modelcontextprotocol/clientInfo": { name: "millrace-page", version: "1" },
    "io.modelcontextprotocol/logLevel": "debug",
  };
  return { ...params, _meta: { ...params._meta, ...meta } };
}

// Sends a request. The answer is JSON, or an event stream: notifications, each given to `heard`, then the response.
// `modern`: in the newer revision. `mirrored`: inputs that are header fields, too.
async function ask(method, params, { heard = () => {}, signal, modern = false, mirrored = [] } = {}) {
  const id = ++lastId;
  const headers = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" });
  const sent = { jsonrpc: "2.0", id, method, params: modern ? asModern(method, params, headers, mirrored) : params };
  for (const [name, value] of credentials()) headers.set(name.trim(), value);
  const started = performance.now();
  const response = await fetch(endpoint, { method: "POST", headers, body: JSON.stringify(sent), signal, credentials: "omit" });
  const isStream = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
  const told = { details: decoded(response.headers.get("x-millrace-details")) };
  const message = isStream ? await lastOf(response, id, heard, told) : answerOf(await response.text());
  return { status: response.status, sent, message, ms: performance.now() - started, details: told.details ?? {} };
}

const decoded = (base64) =>
  base64 && parsed(new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))));

const answerOf = (text) => parsed(text) ?? { error: { message: text || "The server sent an empty answer." } };

// Reads an event stream to its end; the result is the response to request `id`.
async function lastOf(response, id, heard, told) {
  let answer = { error: { message: "The event stream ended without an answer." } };
  const take = (event) => {
    const lines = event.split("\n").filter((line) => line.startsWith("data:"));
    if (lines.length === 0) return;
    const message = answerOf(lines.map((line) => line.slice(line[5] === " " ? 6 : 5)).join("\n"));
    if (message.details !== undefined) told.details = message.details;
    else if (message.method !== undefined) heard(message);
    else if (message.id === id || message.error) answer = message;
  };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += value ?? "";
    // A CR at the end may be half of a CRLF.
    const whole = done || !rest.endsWith("\r") ? rest : rest.slice(0, -1);
    const events = whole.replace(/\r\n?/g, "\n").split("\n\n");
    rest = events.pop() + rest.slice(whole.length);
    events.forEach(take);
    if (done) break;
  }
  take(rest);
  return answer;
}

// A whole list, page by page.
async function listed(method, member) {
  const found = [];
  let cursor;
  do {
    const { message } = await ask(method, cursor === undefined ? {} : { cursor });
    if (!message.result) throw new Error(message.error?.message ?? "the server sent no list");
    found.push(...message.result[member]);
    cursor = message.result.nextCursor;
  } while (cursor !== undefined);
  return found;
}

function notification({ method, params = {} }) {
  if (method === "notifications/message") return [params.level, params.logger, asText(params.data ?? null)].filter(Boolean).join(" ");
  if (method !== "notifications/progress") return method + " " + JSON.stringify(params);
  const total = params.total === undefined ? "" : " of " + params.total;
  return "progress " + params.progress + total + (params.message === undefined ? "" : ": " + params.message);
}
