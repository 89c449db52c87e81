// What is JavaScript's work, called from Rust. Each function takes all it needs and gives back all there is: crossing the border costs.

/** Reads a body up to a limit; `null` where it is longer. */
export async function read(stream, limit) {
  if (!stream) return new Uint8Array();
  const reader = stream.getReader();
  const chunks = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel().catch(() => {});
      return null;
    }
    chunks.push(value);
  }
  if (chunks.length === 1) return chunks[0];
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Header fields as lines, name and value in turn. */
export function lines(headers) {
  let text = "";
  for (const [name, value] of headers) text += `${name}\n${value}\n`;
  return text;
}

/** Lines as header fields. */
export function fields(text) {
  const parts = text.split("\n");
  const headers = new Headers();
  for (let at = 0; at + 1 < parts.length; at += 2) headers.append(parts[at], parts[at + 1]);
  return headers;
}

/** A response. */
export function respond(status, headers, body) {
  return new Response(body, { status, headers });
}

/** Calls a function with a number after a pause; gives the timer. */
export function pause(ms, ring, number) {
  return setTimeout(ring, ms, number);
}

/** Takes a timer back. */
export function endPause(timer) {
  clearTimeout(timer);
}

/**
 * A promise that calls a function with a number when it is resolved; gives what resolves it. Whoever does that, the platform goes on in the
 * request that is at work now.
 */
export function door(enter, number) {
  const { promise, resolve } = Promise.withResolvers();
  promise.then(() => enter(number));
  return resolve;
}

/** What ends a request that nobody waits for any more. */
export function controller() {
  return new AbortController();
}

/** Ends it. */
export function abort(controller) {
  controller.abort();
}

/**
 * Sends a request: `[status, header lines, body]`. Throws `[phase, message]`: `request` (it is malformed), `connect` (no response began),
 * `large` or `broken` (after it began).
 */
export async function send(method, url, headerLines, body, limit, controller) {
  let phase = "request";
  try {
    const request = new Request(url, {
      method,
      headers: fields(headerLines),
      body: body.length > 0 ? body : undefined,
      redirect: "manual",
      // The platform would keep some responses for a while, by what their URL ends in.
      cache: "no-store",
      signal: controller.signal,
    });
    phase = "connect";
    const response = await fetch(request);
    phase = "broken";
    let received = await read(response.body, limit);
    // The platform itself decodes gzip and br, and not this one. Named deflate, it should be zlib's format; some servers send what is within that.
    if (received?.length > 0 && response.headers.get("content-encoding")?.trim().toLowerCase() === "deflate") {
      const format = (received[0] & 15) === 8 ? "deflate" : "deflate-raw";
      received = await read(new Response(received).body.pipeThrough(new DecompressionStream(format)), limit);
    }
    if (received === null) throw ["large", ""];
    return [response.status, lines(response.headers), received];
  } catch (error) {
    if (Array.isArray(error)) throw error;
    throw [phase, String(error?.message ?? error)];
  }
}

/** Runs a statement of D1: its columns and rows, or the number of rows that it changed, as JSON. */
export async function query(database, text, params, returns) {
  const statement = database.prepare(text);
  const bound = params.length > 0 ? statement.bind(...params) : statement;
  if (!returns) return JSON.stringify({ columns: [], rows: [], changes: (await bound.run()).meta.changes });
  const [columns, ...rows] = await bound.raw({ columnNames: true });
  return JSON.stringify({ columns: columns ?? [], rows });
}

/**
 * Takes a step of counters or records in the Durable Object that has this key. Keys are `kind:digest…`: the digest spreads them over 256
 * objects, and those of one digest are together. Epochs are `epoch:app:…`: those of an app are together.
 */
export async function step(namespace, name, key, ...values) {
  const at = key.indexOf(":") + 1;
  const object = namespace.get(namespace.idFromName(key.slice(at, at + 2)));
  const result = await object[name](...values);
  return result instanceof ArrayBuffer ? new Uint8Array(result) : result;
}

/** Asks a limiter of the platform whether a call is within its limit. */
export async function isWithin(limiter, key) {
  return (await limiter.limit({ key })).success;
}

/** Runs statements of D1 as one transaction: the columns, rows and number of changed rows of each, as JSON. */
export async function batch(database, texts, parameters) {
  const bound = (text, at) => {
    const statement = database.prepare(text);
    return parameters[at].length > 0 ? statement.bind(...parameters[at]) : statement;
  };
  const answer = ({ results: rows, meta }) => {
    const columns = rows.length > 0 ? Object.keys(rows[0]) : [];
    return { columns, rows: rows.map((row) => Object.values(row)), changes: meta.changes };
  };
  return JSON.stringify((await database.batch(texts.map(bound))).map(answer));
}

/** The keys that were imported, by their algorithm and text. */
const imported = new Map();

/**
 * Whether a signature is the key's over a text of ASCII, by this algorithm of JSON Web Tokens. A key that the platform does not take signed
 * nothing.
 */
export async function isSigned(algorithm, key, message, signature) {
  const hash = { name: `SHA-${algorithm.slice(2)}` };
  const parameters = {
    RS: { name: "RSASSA-PKCS1-v1_5", hash },
    PS: { name: "RSA-PSS", hash, saltLength: Number(algorithm.slice(2)) / 8 },
    ES: { name: "ECDSA", hash, namedCurve: `P-${algorithm.slice(2)}` },
    HS: { name: "HMAC", hash },
    Ed: { name: "Ed25519" },
  }[algorithm.slice(0, 2)];
  try {
    const id = algorithm + key;
    let ready = imported.get(id);
    if (!ready) {
      ready = await crypto.subtle.importKey("jwk", JSON.parse(key), parameters, false, ["verify"]);
      if (imported.size >= 100) imported.clear();
      imported.set(id, ready);
    }
    return await crypto.subtle.verify(parameters, ready, signature, new TextEncoder().encode(message));
  } catch {
    return false;
  }
}
