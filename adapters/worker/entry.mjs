// The Worker's entry: hands the app to the runtime, then each request.
import bundle from "./app.bin";
import engine from "./runtime/engine.mjs";
import * as runtime from "./runtime/index.js";

export { MillraceState } from "./state.mjs";

const INTERNAL = '{"jsonrpc":"2.0","error":{"code":-32603,"message":"internal error"}}';
const MALFORMED = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"the request\'s body is malformed"}}';

// The runtime's futures go on in microtasks. The platform's own function for that crosses its border each time; a promise does not.
const resolved = Promise.resolve();
globalThis.queueMicrotask = (task) => void resolved.then(task);

/** How the requests in flight end when the instance under them dies. */
const inFlight = new Map();
let number = 0;
let isAlive = false;
let instances = 0;

/** Makes the instance ready; a new one, where a panic ended the last. */
function revive() {
  if (isAlive) return;
  if (instances > 0) runtime.__wbg_reset_state();
  instances += 1;
  const instance = instances;
  runtime.start(new Uint8Array(bundle), engine, () => instance === instances && died());
  isAlive = true;
}

/** The instance is of no use any more: nothing that waits in it will ever go on. */
function died() {
  isAlive = false;
  for (const end of inFlight.values()) end(new Error("the instance died"));
  inFlight.clear();
}

/** A trap that no panic announced: the stack or the memory ran out. */
function isTrap(error) {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
}

addEventListener("error", (event) => isTrap(event.error) && died());
addEventListener("unhandledrejection", (event) => isTrap(event.reason) && died());

function json(status, body) {
  return new Response(body, { status, headers: { "content-type": "application/json" } });
}

/** Reads a body up to the app's limit; `undefined` where it is longer. */
async function read(request, length) {
  const limit = runtime.body_limit();
  if (length !== null) return Number(length) > limit ? undefined : new Uint8Array(await request.arrayBuffer());
  if (!request.body) return new Uint8Array();
  const chunks = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** Tells a call that its client has gone, even where it went before anybody could listen. */
function listen({ signal }, hangUp) {
  signal?.addEventListener("abort", hangUp);
  if (signal?.aborted) hangUp();
}

/** Where a batch of metrics goes that is for a dataset. */
const DATASET = "https://dataset.invalid/";
/** The platform drops what a request writes beyond that. */
const MOST_POINTS = 250;
const send = globalThis.fetch;
let known;
let extended;

/** The bindings of a request. A dataset of Analytics Engine among them takes the metrics, where no variable names a collector of metrics. */
function bindings(env) {
  if (known === env) return extended;
  [known, extended] = [env, env];
  const { MILLRACE_METRICS: dataset, OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own } = env;
  if (!dataset || all || own) return env;
  globalThis.fetch = async (request, ...more) => (request.url === DATASET ? written(dataset, await request.json()) : send(request, ...more));
  return (extended = { ...env, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: DATASET });
}

/** Writes each point of a batch: the metric's name and its labels; the count, and of a histogram the sum, the smallest and the largest. */
function written(dataset, { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }) {
  let left = MOST_POINTS;
  for (const { name, sum, histogram } of metrics) {
    for (const { attributes, asInt, count, sum: total, min, max } of (sum ?? histogram).dataPoints) {
      if (left-- <= 0) break;
      const labels = attributes.map(({ key, value }) => `${key}=${Object.values(value)[0]}`);
      const doubles = [asInt ?? count, total, min, max].map((number) => Number(number ?? 0));
      dataset.writeDataPoint({ indexes: [name], blobs: [name, ...labels], doubles });
    }
  }
  return new Response();
}

async function answer(request, env, context) {
  const { method, url } = request;
  const target = url.slice(url.indexOf("/", url.indexOf("://") + 3));
  let lines = "";
  let length = null;
  for (const [name, value] of request.headers) {
    lines += `${name}\n${value}\n`;
    if (name === "content-length") length = value;
  }
  let body;
  try {
    body = await read(request, length);
  } catch {
    return json(400, MALFORMED);
  }
  revive();
  const id = (number = (number + 1) >>> 0);
  const hangUp = () => isAlive && runtime.cancel(id);
  const over = () => inFlight.delete(id);
  let streams = false;
  try {
    let reply = runtime.handle(id, method, target, lines, body, bindings(env), context);
    if (reply instanceof Response) return reply;
    listen(request, hangUp);
    if (reply instanceof Promise) {
      const pending = reply;
      const ended = new Promise((resolve, reject) => {
        inFlight.set(id, reject);
        pending.then(resolve, reject);
      });
      // Without it, the platform drops a request's work where it stands when the client goes away, and what the isolate lent to it is
      // never given back. With it, the work is told and ends by itself.
      context.waitUntil(ended.catch(() => {}));
      reply = await ended;
    }
    if (!Array.isArray(reply)) return reply;
    streams = true;
    const [status, headers] = reply;
    return new Response(events(id, context, hangUp, over), { status, headers });
  } catch (error) {
    if (isAlive && isTrap(error)) died();
    return json(500, INTERNAL);
  } finally {
    if (!streams) over();
  }
}

/** The events of a call, as they come. The call does not wait for the reader. */
function events(id, context, hangUp, over) {
  let isOpen = true;
  return new ReadableStream({
    start(controller) {
      const end = (error) => {
        over();
        if (!isOpen) return;
        isOpen = false;
        if (error) controller.error(error);
        else controller.close();
      };
      inFlight.set(id, end);
      context.waitUntil(runtime.pump(id, context, (event) => isOpen && controller.enqueue(event)).then(() => end(), end));
    },
    cancel() {
      isOpen = false;
      hangUp();
    },
  });
}

// Decoded while the isolate starts, so that the first request finds it ready, and a bundle of another version fails the deployment.
revive();

export default {
  fetch: answer,
};
