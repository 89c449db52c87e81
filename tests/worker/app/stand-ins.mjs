// The Worker of the tests: the entry of every app, with stand-ins in the way of its bindings and of the clock. `POST /stand-in` sets what
// they do, and answers with what happened since the last time:
//   cache      "real", "throws", "rejects", "silent", or "silent put"
//   database   messages with which the next statements and batches fail; after they are done, where they begin with `after: `
//   clock      "real", or "still": as on the platform, it moves only with input and output
//   ahead_ms   how much later it is
import app from "./dist/entry.mjs";

const real = { now: Date.now, setTimeout: globalThis.setTimeout };
const settings = { cache: "real", database: [], clock: "real", ahead_ms: 0 };
let events = [];
let still = 0;

Date.now = () => (settings.clock === "still" ? still : real.now()) + settings.ahead_ms;
globalThis.setTimeout = (work, delay, ...rest) =>
  real.setTimeout(() => {
    still = real.now();
    if (delay === 0) events.push("turn");
    work(...rest);
  }, delay);

/** What a namespace of KV does. */
function ask(namespace, method, parameters) {
  const is = settings.cache === "silent put" ? (method === "put" ? "silent" : "real") : settings.cache;
  events.push(`${method} ${is}`);
  switch (is) {
    case "silent":
      real.setTimeout(() => events.push("a while"), 100);
      return new Promise(() => {});
    case "rejects":
      return Promise.reject(new Error("KV GET failed: 500 Internal Server Error"));
    case "throws":
      throw new Error("KV is not itself");
  }
  return namespace[method](...parameters);
}

function cache(namespace) {
  const methods = ["get", "getWithMetadata", "put", "list", "delete"];
  return Object.fromEntries(methods.map((method) => [method, (...parameters) => ask(namespace, method, parameters)]));
}

/** Does it, unless the next message says that it fails; one that begins with `after: ` says so when it is done. */
async function failing(work) {
  const message = settings.database.shift();
  if (message === undefined) return work();
  if (message.startsWith("after: ")) await work();
  throw new Error(message.replace("after: ", ""));
}

/** A database that fails as often as it was told to. */
function database(binding) {
  const bound = (statement) => {
    const run = (method) => (...parameters) => {
      events.push("statement");
      return failing(() => statement[method](...parameters));
    };
    return { statement, bind: (...values) => bound(statement.bind(...values)), run: run("run"), raw: run("raw") };
  };
  const batch = (all) => {
    events.push("batch");
    return failing(() => binding.batch(all.map(({ statement }) => statement)));
  };
  return { prepare: (text) => bound(binding.prepare(text)), batch };
}

async function set(request) {
  Object.assign(settings, await request.json());
  still = real.now();
  const happened = events;
  events = [];
  return Response.json(happened);
}

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === "/stand-in") return set(request);
    const response = await app.fetch(request, { ...env, MILLRACE_CACHE: cache(env.MILLRACE_CACHE), DB: database(env.DB) }, context);
    events.push("answer");
    return response;
  },
};
