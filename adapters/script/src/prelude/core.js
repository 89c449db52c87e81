// The prelude: what stands around the scripts in an instance. It is evaluated once, and is part of every image; what it keeps in variables is
// that of one call, because the image is put back before the next one. The scripts of a call run one after the other (`begin`). A script may
// change built-ins, which is its call's own loss; what the prelude itself needs of them it takes before any script runs, where that is cheap.
//
// The other side is adapters/script/src/wire.rs: the numbers and shapes are the same there.

const ASK = { fetch: 1, query: 2, timer: 3 };
const SAY = {
  log: 10, progress: 11, requireInput: 12, urlParse: 13, urlSet: 14, formParse: 15, formSerialize: 16, digest: 17, clearTimer: 18, aborted: 19,
  refused: 20, isUtf8: 21, took: 22,
};
const LEVEL = { debug: 0, info: 1, warn: 2, error: 3 };
const OPERATOR = 0;
const CALLER = 1;

const MAX_DEPTH = 256;
const MAX_PENDING = 10000;
const MAX_CAUSES = 100;
const MAX_LATE_ROUNDS = 16;
const MAX_QUESTION_LENGTH = 64 << 10;
const MAX_BUFFER_LENGTH = 64 << 20;
const MAX_DELAY_MS = 2147483647;
const MAX_FRAMES = 8;
const MAX_TOOK = 20;
const ELEMENT_LENGTH = 32;

const { parse, stringify, rawJSON } = JSON;
const { create, defineProperty, freeze, getPrototypeOf, keys } = Object;
const { apply } = Reflect;
const { ceil, max, min, trunc } = Math;
const isArray = Array.isArray;
const objectPrototype = Object.prototype;
const errorPrototype = Error.prototype;
const toStringTag = Symbol.toStringTag;
const promiseConstructor = Promise;
const weakMapConstructor = WeakMap;
const dateToJSON = Date.prototype.toISOString;
const valueOf = { Number: Number.prototype.valueOf, String: String.prototype.valueOf, Boolean: Boolean.prototype.valueOf, BigInt: BigInt.prototype.valueOf };
const typedArray = getPrototypeOf(Uint8Array.prototype);
const getter = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
const [bufferOf, offsetOf, lengthOf] = ['buffer', 'byteOffset', 'byteLength'].map(name => getter(typedArray, name));
const classOf = native.class_of;

const wellFormed = text => (text.isWellFormed() ? text : text.toWellFormed());
const say = (kind, value, bytes) => native.say(kind, stringify(value) ?? 'null', bytes);

// Integers that a number does not hold come as `[...path, digits]` beside the value.
const withBigs = (value, bigs) => {
  for (const place of bigs ?? []) {
    const digits = place.pop();
    const last = place.pop();
    if (last === undefined) return BigInt(digits);
    let at = value;
    for (const step of place) at = at[step];
    at[last] = BigInt(digits);
  }
  return value;
};

// Where the script is: lines of a stack, without those of the prelude.
const trimmed = stack => {
  let lines = '';
  let count = 0;
  for (const line of String(stack).split('\n')) {
    if (line === '' || line.includes('<millrace>') || line.includes('(native)')) continue;
    if (++count > MAX_FRAMES) break;
    lines += `${line}\n`;
  }
  return lines;
};
const where = () => trimmed(new Error().stack);

// Where `check` loads the scripts, it is told what they take while they are evaluated, and where.
let isTelling = false;
let tookCount = 0;
const took = what => {
  if (isTelling && tookCount++ < MAX_TOOK) say(SAY.took, [what, wellFormed(String(new Error().stack))]);
};

// questions to the host

const open = new Map(); // id → { ok, failed, name, stack, turn }
const timers = new Map(); // id of the script → id of the host
let turn = 0;
let causes = new WeakMap();
let causesCount = 0;

const hostError = (constructor, { message, code, cause }, stack) => {
  const error = new constructor(message);
  error.code = code;
  defineProperty(error, 'stack', { value: stack, writable: true, configurable: true });
  if (causesCount++ < MAX_CAUSES) causes.set(error, { cause, stack });
  return error;
};

const ask = (kind, value, bytes, constructor, name, stack, ok, failed) => {
  took('outside');
  const id = native.ask(kind, stringify(value), bytes);
  open.set(id, { ok, failed: reason => failed(hostError(constructor, reason, stack)), name, stack, turn });
  return id;
};

// Promises of the host that nothing has looked at. Whatever waits for a promise first reads its `constructor`.
const watched = new Map();
let lastWatched = 0;
const watch = (promise, name, stack) => {
  if (watched.size >= MAX_PENDING) throw new RangeError(`more than ${MAX_PENDING} queries and requests that nothing waits for`);
  const id = ++lastWatched;
  watched.set(id, { promise, name, stack });
  defineProperty(promise, 'constructor', {
    get() {
      watched.delete(id);
      return promiseConstructor;
    },
    configurable: true,
  });
  return promise;
};

// values

const IS_IDENTIFIER = /^[\p{L}\p{Nl}\p{Nd}_$]+$/u;
const STARTS_WITH_DIGIT = /^[0-9]/;
class NotJson {
  constructor(text) {
    this.text = text;
  }
}
const TOO_LONG = freeze({});

const isError = object => {
  if (classOf(object) === 'Error') return true;
  let prototype = getPrototypeOf(object);
  for (let i = 0; i < 64 && prototype !== null; i++) {
    if (prototype === errorPrototype) return true;
    prototype = getPrototypeOf(prototype);
  }
  return false;
};
const HIDES_ITS_CONTENT = { __proto__: null, Map: 1, Set: 1, Promise: 1, RegExp: 1, ArrayBuffer: 1, DataView: 1 };

// A value as one that JSON holds, `undefined` for none: what it becomes is made of null, texts, numbers, lists, and objects without a
// prototype. `isParameter`: a database gets it, which has integers that callers have not. Gives what is left of the room.
const walker = (root, room, isParameter) => {
  const path = [];
  const ancestors = [];
  let left = room;
  const spend = length => {
    left -= length;
    if (left < 0) throw TOO_LONG;
  };
  const name = steps => {
    let text = root;
    for (let i = 0; i < steps; i++) {
      const step = path[i];
      if (typeof step === 'number') text += `[${step}]`;
      else if (IS_IDENTIFIER.test(step) && !STARTS_WITH_DIGIT.test(step)) text += `.${step}`;
      else text += `[${stringify(step)}]`;
    }
    return text;
  };
  const inAnArgument = what => what.replaceAll('throw it, or return ', 'pass ').replaceAll('; return ', '; pass ');
  const refuse = what => {
    throw new NotJson(`\`${name(path.length)}\` ${root === 'results' ? what : inAnArgument(what)}`);
  };
  const number = value => {
    if (value !== value) refuse('is NaN, which JSON would turn into null');
    if (value === Infinity || value === -Infinity) refuse('is an infinite number, which JSON would turn into null');
    spend(1);
    return value;
  };
  const bigint = value => {
    spend(1);
    if (isParameter) {
      if (value < -(2n ** 63n) || value >= 2n ** 64n) refuse('is an integer of more than 64 bits; pass the text of its digits');
      return rawJSON(value.toString());
    }
    const small = value >= -9007199254740991n && value <= 9007199254740991n;
    return small ? Number(value) : value.toString();
  };
  const walk = (value, key) => {
    switch (typeof value) {
      case 'undefined':
        return undefined;
      case 'boolean':
        spend(4);
        return value;
      case 'number':
        return number(value);
      case 'string':
        spend(value.length + 2);
        return wellFormed(value);
      case 'symbol':
        return refuse('is a symbol');
      case 'bigint':
        return bigint(value);
      case 'function':
        return refuse('is a function');
      default:
        return value === null ? (spend(4), null) : object(value, key);
    }
  };
  const object = (value, key) => {
    const ancestor = ancestors.indexOf(value);
    if (ancestor >= 0) refuse(`refers back to \`${name(ancestor)}\``);
    if (ancestors.length >= MAX_DEPTH) throw new NotJson(`\`${root}\` is nested more than ${MAX_DEPTH} levels deep`);
    if (replies.has(value)) refuse('is a reply of `millrace`; return the reply itself');
    if (isParameter && classOf(value) === 'BigInt') return members(value);
    const { toJSON } = value;
    if (typeof toJSON !== 'function') return members(value);
    const replaced = apply(toJSON, value, [key]);
    if (typeof replaced === 'object' && replaced !== null) return members(replaced);
    if (typeof replaced === 'function') return refuse('is a function');
    if (replaced !== null && replaced !== undefined) return walk(replaced, key);
    return refuse(classOf(value) === 'Date' ? 'is an invalid Date' : 'has a `toJSON` that returned nothing');
  };
  const members = value => {
    const kind = classOf(value);
    if (kind === 'Number' || kind === 'String' || kind === 'Boolean' || kind === 'BigInt') return walk(apply(valueOf[kind], value, []), '');
    ancestors.push(value);
    const made = isArray(value) ? list(value) : plain(value, kind);
    ancestors.pop();
    return made;
  };
  const list = value => {
    const length = min(max(trunc(Number(value.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
    spend(2);
    if (length > left) throw TOO_LONG;
    const made = new Array(length);
    for (let i = 0; i < length; i++) {
      spend(i > 0 ? 1 : 0);
      path.push(i);
      const item = walk(value[i], String(i));
      if (item === undefined) refuse('is undefined, which JSON would turn into null; return null');
      made[i] = item;
      path.pop();
    }
    return made;
  };
  const plain = (value, kind) => {
    spend(2);
    const names = keys(value);
    const prototype = getPrototypeOf(value);
    if (kind !== 'Object' || names.length === 0 || (prototype !== objectPrototype && prototype !== null)) look(value, kind, prototype, names.length === 0);
    const made = create(null);
    for (const key of names) {
      path.push(key);
      const member = walk(value[key], key);
      if (member !== undefined) {
        spend(key.length + 4);
        made[wellFormed(key)] = member;
      }
      path.pop();
    }
    return made;
  };
  const look = (value, kind, prototype, isEmpty) => {
    const tag = HIDES_ITS_CONTENT[kind] ? kind : value[toStringTag];
    const { constructor } = isEmpty ? value : {};
    const named = constructor !== null && (typeof constructor === 'object' || typeof constructor === 'function') ? constructor.name : '';
    const refused = say(SAY.refused, {
      tag: typeof tag === 'string' ? wellFormed(tag) : kind === 'Arguments' ? kind : 'Object',
      class: typeof named === 'string' ? wellFormed(named) : '',
      isError: isError(value),
      isPlain: prototype === null || prototype === objectPrototype,
      isEmpty,
    });
    if (refused) refuse(refused);
  };
  return { walk, left: () => left };
};

// The same as an argument of a function: what is wrong is thrown.
const argument = (value, room, root, what, isParameter = false) => {
  const walking = walker(root, room, isParameter);
  try {
    return [walking.walk(value, ''), walking.left()];
  } catch (error) {
    if (error instanceof NotJson) throw new TypeError(`${what}: ${error.text}`);
    if (error === TOO_LONG) throw new RangeError(`${what} is too long`);
    throw error;
  }
};

// replies

const replies = new WeakMap();
let repliesCount = 0;
const tag = reply => {
  if (repliesCount >= MAX_PENDING) throw new RangeError(`more than ${MAX_PENDING} replies in one call`);
  repliesCount++;
  const object = freeze({});
  replies.set(object, reply);
  return object;
};
const textOf = value => {
  if (typeof value === 'object' && value !== null) {
    const { message } = value;
    if (typeof message === 'string') return message;
  }
  return String(value);
};
const option = (options, ...names) => {
  for (const name of names) {
    const value = options[name];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
};
const toolErrorOptions = options => {
  const text = name => {
    const value = option(options, name);
    return value === undefined ? undefined : String(value);
  };
  const reply = { message: text('message'), suggestion: text('suggestion'), severity: text('severity') };
  if (reply.severity !== undefined && !['warning', 'error', 'critical'].includes(reply.severity)) {
    throw new TypeError('`severity` of `toolError` must be `warning`, `error` or `critical`');
  }
  const actions = option(options, 'available_actions', 'availableActions');
  if (actions !== undefined) {
    if (!isArray(actions)) throw new TypeError('`available_actions` of `toolError` must be an array of tool names');
    if (actions.length > MAX_PENDING) throw new RangeError(`\`available_actions\` of \`toolError\` must have at most ${MAX_PENDING} names`);
    reply.available_actions = Array.from(actions, action => wellFormed(String(action)));
  }
  const details = option(options, 'details');
  if (details !== undefined) {
    const [members] = argument(details, MAX_BUFFER_LENGTH, 'details', '`toolError`');
    if (typeof members !== 'object' || members === null || isArray(members)) throw new TypeError('`details` of `toolError` must be an object');
    reply.details = keys(members).map(key => [key, typeof members[key] === 'string' ? members[key] : stringify(members[key])]);
  }
  const after = option(options, 'retry_after', 'retryAfter');
  if (after !== undefined) {
    const seconds = Number(after);
    if (!(seconds >= 0 && seconds <= 1e9)) throw new RangeError('`retry_after` of `toolError` must be a number of seconds, zero or more');
    reply.retry_after = ceil(seconds);
  }
  return reply;
};
const millrace = {
  success: data => tag({ kind: 'success', data }),
  error(message, code) {
    const text = textOf(message);
    return tag(code === undefined || code === null ? { kind: 'error', message: text } : { kind: 'toolError', code: textOf(code), message: text });
  },
  required: field => tag({ kind: 'required', field: textOf(field) }),
  toolError(code, options) {
    const reply = { kind: 'toolError', code: textOf(code) };
    if (typeof options === 'object' && options !== null) Object.assign(reply, toolErrorOptions(options));
    else if (options !== undefined && options !== null) throw new TypeError('the second argument of `toolError` must be an object');
    return tag(reply);
  },
  anonymous: options => tag({ kind: 'anonymous', members: argument(options, MAX_QUESTION_LENGTH, 'options', 'the argument of `anonymous`')[0] ?? null }),
  requireInput(requests) {
    const [asked] = argument(requests, MAX_QUESTION_LENGTH, 'requests', 'the argument of `requireInput`');
    const answer = say(SAY.requireInput, asked ?? null);
    if (answer === undefined) throw new Error('`requireInput` works in a call only');
    if (answer.error) throw hostError(TypeError, answer.error, where());
    if (answer.answers === undefined) throw tag({ kind: 'inputRequired' });
    return withBigs(answer.answers, answer.bigs);
  },
};
const [exports, build] = written({ content: data => tag({ kind: 'content', data }), base64: bytes => bytes.toBase64() });
Object.assign(millrace, exports);
Object.setPrototypeOf(millrace, null);
freeze(millrace);
const built = value => (typeof value === 'object' && value !== null ? build(value) : value);

// globals

const global = (name, value) => defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
global('self', globalThis);
global('global', globalThis);
defineProperty(Math, 'random', { value: { random: () => (took('random'), native.fraction()) }.random, writable: true, enumerable: false, configurable: true });

// As answers have it: JSON has no integers of its own.
defineProperty(BigInt.prototype, 'toJSON', {
  value: {
    toJSON() {
      const value = BigInt.prototype.valueOf.call(this);
      return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value.toString();
    },
  }.toJSON,
  writable: true,
  enumerable: false,
  configurable: true,
});

const log = (reader, level, text) => {
  took('log');
  say(SAY.log, [reader, level, wellFormed(text)]);
};

// A value in a line for the operator: text as it is, an object as JSON.
const shown = value => {
  if (typeof value === 'symbol') return Symbol.prototype.toString.call(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[function ${value.name}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (isError(value)) return `${value.name}: ${value.message}`;
  let text;
  try {
    text = stringify(value);
  } catch {
    return '[object that JSON cannot represent]';
  }
  return typeof text === 'string' ? text : String(value);
};
// Without methods of lists: a script may have put its own there.
const line = (values, show) => {
  let text = '';
  for (let i = 0; i < values.length; i++) text += (i > 0 ? ' ' : '') + show(values[i]);
  return text;
};
const speaker = level => ({ console: (...values) => log(OPERATOR, level, line(values, shown)) }).console;
const console = {
  debug: speaker(LEVEL.debug),
  trace: speaker(LEVEL.debug),
  log: speaker(LEVEL.info),
  info: speaker(LEVEL.info),
  table: speaker(LEVEL.info),
  dir: value => log(OPERATOR, LEVEL.info, shown(value)),
  warn: speaker(LEVEL.warn),
  error: speaker(LEVEL.error),
  assert(condition, ...values) {
    if (!condition) log(OPERATOR, LEVEL.error, line(['assertion failed', ...values], shown));
  },
};
for (const name of keys(console)) defineProperty(console[name], 'name', { value: name, configurable: true });
global('console', console);

// What is thrown where nobody waits for it ends the call.
const running = work => {
  try {
    work();
  } catch (error) {
    outcome ??= { threw: error, isFinal: true };
  }
};
const callback = (name, value) => {
  if (typeof value !== 'function') throw new TypeError(`\`${name}\` takes a function`);
  return value;
};
let lastTimer = 0;
const timer = (name, repeats, work, ms, values) => {
  callback(name, work);
  if (timers.size >= MAX_PENDING) throw new RangeError('too many timers at a time');
  const delay = Number(ms);
  const delayMs = delay > 0 && delay <= MAX_DELAY_MS ? trunc(delay) : 0;
  const id = ++lastTimer;
  took('timer');
  const start = again => {
    const question = native.ask(ASK.timer, stringify([delayMs, again]));
    timers.set(id, question);
    open.set(question, {
      isTimer: true,
      ok() {
        timers.delete(id);
        if (repeats) start(true);
        running(() => apply(work, undefined, values));
      },
    });
  };
  start(false);
  return id;
};
const clear = id => {
  const number = typeof id === 'object' || typeof id === 'function' ? NaN : Number(id);
  const question = timers.get(number);
  if (question === undefined) return;
  timers.delete(number);
  open.delete(question);
  say(SAY.clearTimer, question);
};
const later = queueMicrotask;
const globals = {
  setTimeout: (work, ms, ...values) => timer('setTimeout', false, work, ms, values),
  setInterval: (work, ms, ...values) => timer('setInterval', true, work, ms, values),
  clearTimeout: id => clear(id),
  clearInterval: id => clear(id),
  queueMicrotask(work) {
    callback('queueMicrotask', work);
    later(() => running(() => work()));
  },
};
for (const [name, value] of Object.entries(globals)) global(name, value);

const bytesOf = value => {
  if (classOf(value) === 'ArrayBuffer') return new Uint8Array(value);
  const kind = classOf(value);
  if (kind !== undefined && kind.endsWith('Array') && kind !== 'Array') return new Uint8Array(bufferOf.call(value), offsetOf.call(value), lengthOf.call(value));
  return undefined;
};

web(
  {
    fetch(method, url, headers, body, redirect) {
      if (open.size >= MAX_PENDING) throw new RangeError('too many requests at a time');
      const stack = where();
      return new promiseConstructor((resolve, reject) => {
        const ok = (value, bytes) => resolve([value[0], value[1], bytes ?? new Uint8Array(), value[2], value[3]]);
        ask(ASK.fetch, [method, wellFormed(url), headers.map(wellFormed), redirect], body, TypeError, '`fetch(…)`', stack, ok, reject);
      });
    },
    watch: promise => watch(promise, '`fetch(…)`', where()),
    urlParse: (url, base) => say(SAY.urlParse, base === undefined ? [wellFormed(url)] : [wellFormed(url), wellFormed(base)]),
    urlSet: (href, part, value) => say(SAY.urlSet, [href, part, wellFormed(value)]),
    formParse: text => say(SAY.formParse, wellFormed(text)),
    formSerialize: pairs => say(SAY.formSerialize, pairs.map(wellFormed)),
    utf8Encode: text => native.encode(wellFormed(text)),
    utf8Decode(bytes, fatal, keepMark) {
      if (fatal && !say(SAY.isUtf8, null, bytes)) throw new TypeError('the bytes are not valid UTF-8');
      const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
      return native.decode(hasMark && !keepMark ? bytes.subarray(3) : bytes);
    },
    utf8Tail(bytes) {
      for (let length = 1; length <= min(bytes.length, 3); length++) {
        const byte = bytes[bytes.length - length];
        if (byte >= 0x80 && byte <= 0xbf) continue;
        const needed = byte >= 0xc2 && byte <= 0xdf ? 2 : byte >= 0xe0 && byte <= 0xef ? 3 : byte >= 0xf0 && byte <= 0xf4 ? 4 : 0;
        return length < needed ? length : 0;
      }
      return 0;
    },
    random(length) {
      took('random');
      const bytes = new Uint8Array(length);
      native.random(bytes);
      return bytes;
    },
    digest(name, bytes) {
      const made = say(SAY.digest, name, bytes);
      if (!made) throw new Error(`\`${name}\` is not supported by \`digest\`; use \`SHA-256\`, \`SHA-384\` or \`SHA-512\``);
      return made[1];
    },
  },
  global,
);

// ctx

// A parameter as the host reads it: `[type, value]`. Bytes go into `tails`.
const parameterEncoder = () => {
  let left = MAX_BUFFER_LENGTH;
  const tails = [];
  let tailLength = 0;
  const spend = length => {
    left -= length;
    if (left < 0) throw new RangeError('the parameters of `query` are too long');
  };
  // What is common goes without a walk; its place is written down only where something is wrong.
  const steps = [];
  const place = () => `params${steps.map(step => `[${step}]`).join('')}`;
  const encode = value => {
    if (value === undefined || value === null) return ['z'];
    if (typeof value === 'string') return spend(value.length + 2), ['s', wellFormed(value)];
    if (typeof value === 'boolean') return ['b', value];
    if (typeof value === 'number' && value - value === 0) return spend(1), Number.isSafeInteger(value) ? ['i', `${value}`] : ['f', value];
    if (typeof value === 'bigint') return ['i', value.toString()];
    if (typeof value === 'object') {
      if (isArray(value)) return ['l', list(value)];
      const bytes = bytesOf(value);
      if (bytes) {
        spend(bytes.length);
        tails.push(bytes);
        tailLength += bytes.length;
        return ['y', bytes.length];
      }
      if (classOf(value) === 'Date') return ['t', apply(dateToJSON, value, [])];
    }
    const [json, rest] = argument(value, left, place(), 'a parameter of `query`', true);
    left = rest;
    if (json === undefined || json === null) return ['z'];
    if (typeof json !== 'object') return encode(json);
    if (JSON.isRawJSON(json)) return ['i', json.rawJSON];
    return ['j', json];
  };
  const list = value => {
    if (steps.length > MAX_DEPTH) throw new RangeError(`a parameter of \`query\` is nested more than ${MAX_DEPTH} levels deep`);
    const { length } = value;
    // Before anything is read: the list may be a sparse one.
    spend(length * ELEMENT_LENGTH);
    const items = new Array(length);
    for (let i = 0; i < length; i++) {
      steps.push(i);
      if (value[i] === undefined) throw new TypeError(`a parameter of \`query\`: \`${place()}\` is undefined; write null`);
      items[i] = encode(value[i]);
      steps.pop();
    }
    return items;
  };
  const encodeAll = params => {
    const all = [];
    for (let i = 0; i < params.length; i++) {
      steps.push(i);
      all.push(encode(params[i]));
      steps.pop();
    }
    return all;
  };
  const joined = () => {
    const all = new Uint8Array(tailLength);
    let at = 0;
    for (const bytes of tails) {
      all.set(bytes, at);
      at += bytes.length;
    }
    return all;
  };
  return { encodeAll, joined };
};

const rowsOf = ([columns, rows, bigs]) => {
  withBigs(rows, bigs);
  return rows.map(row => {
    const object = {};
    for (let i = 0; i < columns.length; i++) {
      if (columns[i] === '__proto__') defineProperty(object, '__proto__', { value: row[i], writable: true, enumerable: true, configurable: true });
      else object[columns[i]] = row[i];
    }
    return object;
  });
};

const db = adapter => {
  if (typeof adapter !== 'string') throw new TypeError('`ctx.db` takes the name of an adapter');
  return freeze({
    query(text, params) {
      if (open.size >= MAX_PENDING) throw new RangeError('too many queries at a time');
      if (typeof text !== 'string') throw new TypeError('`query` takes a statement and an array of values');
      const encoder = parameterEncoder();
      let encoded = [];
      if (params !== undefined) {
        if (!isArray(params)) throw new TypeError('the values of `query` must be an array');
        if (params.length > MAX_PENDING) throw new RangeError('too many values for one `query`');
        encoded = encoder.encodeAll(params);
      }
      const name = `\`ctx.db(${stringify(adapter)}).query(…)\``;
      const stack = where();
      const promise = new promiseConstructor((resolve, reject) => {
        const question = [wellFormed(adapter), wellFormed(text), encoded];
        ask(ASK.query, question, encoder.joined(), Error, name, stack, value => resolve(rowsOf(value)), reject);
      });
      return watch(promise, name, stack);
    },
  });
};

// A value in a line for the caller: JSON where it is JSON.
const told = value => {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'object' && value !== null) {
    const { message } = value;
    if (typeof message === 'string') return message;
  }
  try {
    const json = walker('value', MAX_BUFFER_LENGTH, false).walk(value, '');
    if (json !== undefined) return stringify(json);
  } catch (error) {
    if (!(error instanceof NotJson) && error !== TOO_LONG) throw error;
  }
  return typeof value === 'object' && value !== null ? objectPrototype.toString.call(value) : String(value);
};
const teller = level => (...values) => log(CALLER, level, line(values, told));
const contextLog = { debug: teller(LEVEL.debug), info: teller(LEVEL.info), warn: teller(LEVEL.warn), error: teller(LEVEL.error) };
const progress = (done, total, message) => {
  const number = Number(done);
  if (!Number.isFinite(number)) throw new TypeError('`progress` takes a number');
  const all = total === undefined || total === null ? NaN : Number(total);
  say(SAY.progress, [number, Number.isFinite(all) ? all : null, message === undefined || message === null ? null : wellFormed(String(message))]);
};
const isAborted = () => !!say(SAY.aborted, null);
const abortError = () => new Error('the call was aborted');
const signal = {
  get aborted() {
    return isAborted();
  },
  get reason() {
    return isAborted() ? abortError() : undefined;
  },
  throwIfAborted() {
    if (isAborted()) throw abortError();
  },
  addEventListener() {},
  removeEventListener() {},
};
for (const name of keys(contextLog)) freeze(contextLog[name]);
const contextFunctions = { log: freeze(contextLog), progress: freeze(progress), db: freeze(db), signal: freeze(signal) };

const frozen = value => {
  if (typeof value !== 'object' || value === null) return value;
  for (const key of keys(value)) frozen(value[key]);
  return freeze(value);
};
const contextOf = (data, required) => {
  const ctx = {};
  for (const key of keys(data)) {
    const value = data[key];
    if (key === 'env' && typeof value === 'object' && value !== null) {
      for (const name of required) {
        if (Object.hasOwn(value, name)) continue;
        const message = `the environment variable \`${name}\` is not set (\`${name}?\` under \`env\` lists one that may be missing)`;
        const get = () => {
          throw new Error(message);
        };
        // Not enumerable: whoever copies what there is does not read what is not.
        defineProperty(value, name, { get, enumerable: false, configurable: true });
      }
    }
    ctx[key] = frozen(value);
  }
  return freeze(Object.assign(ctx, contextFunctions));
};

// the call

const programs = new Map(); // number of the script → { exports } or { promise } or { threw }
let loading; // the number of the one that was loaded last
let message;
let outcome; // { value } or { threw }, once the script is done
let answer; // what the host is told
let lateRounds = 0;
let lastScript = 0;

// What an earlier script of the call has left is not of the next one. What it keeps in its variables stays.
const begin = () => {
  open.clear();
  timers.clear();
  watched.clear();
  causes = new weakMapConstructor();
  causesCount = repliesCount = lateRounds = tookCount = 0;
  message = outcome = answer = undefined;
  lastScript++;
  native.forget();
};

const describe = value => {
  if (typeof value === 'string') return value;
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    for (const name of ['message', 'name']) {
      let text;
      try {
        text = value[name];
      } catch {
        continue;
      }
      if (typeof text === 'string' && (text !== '' || name === 'name')) return text;
    }
    return typeof value === 'function' ? 'the script threw a function' : 'the script threw an object without `message`';
  }
  return `the script threw \`${typeof value === 'bigint' ? `${value}n` : String(value)}\``;
};
const limitOf = value => {
  if (value === null || typeof value !== 'object' || classOf(value) !== 'Error') return undefined;
  try {
    if (value instanceof InternalError && value.message === 'out of memory') return 'memory';
    if (value instanceof InternalError && value.message === 'string too long') return 'memory';
    if (value instanceof RangeError && value.message === 'Maximum call stack size exceeded') return 'stack';
  } catch {}
  return undefined;
};
const InternalError = globalThis.InternalError;

// A reply as data.
const finished = reply => {
  if (reply.kind !== 'success' && reply.kind !== 'content') return reply;
  return { kind: reply.kind, data: walker('results', message.output, false).walk(reply.data, '') ?? null };
};
const stopped = error => {
  if (error instanceof NotJson) return { notJson: error.text };
  if (error === TOO_LONG) return { tooLong: true };
  return thrown(error);
};
const thrown = given => {
  let value = given;
  try {
    value = built(given);
  } catch {}
  const reply = typeof value === 'object' && value !== null ? replies.get(value) : undefined;
  if (reply) {
    try {
      return { threw: { reply: finished(reply) } };
    } catch (error) {
      return stopped(error);
    }
  }
  const limit = limitOf(value);
  if (limit) return { limit };
  const text = describe(value);
  let stack;
  try {
    if (typeof value === 'object' && value !== null && typeof value.stack === 'string') stack = trimmed(value.stack);
  } catch {}
  const known = typeof value === 'object' && value !== null ? causes.get(value) : undefined;
  return { threw: { message: wellFormed(text), stack: known?.stack || stack, cause: known?.cause } };
};
const converted = () => {
  if ('threw' in outcome) return thrown(outcome.threw);
  if (outcome.broken !== undefined) return { broken: outcome.broken };
  try {
    const value = built(outcome.value);
    if (typeof value === 'object' && value !== null) {
      const reply = replies.get(value);
      if (reply) return { reply: finished(reply) };
      if (isError(value)) return thrown(value);
    }
    const json = walker('results', message.output, false).walk(value, '');
    return json === undefined ? {} : { value: json };
  } catch (error) {
    return stopped(error);
  }
};
const leftBehind = (text, stack, cause, reply) => ({ left: { message: text, stack, cause, reply } });
// What the script started and does not wait for; undefined once that is settled, true where there is more to do.
const leftOver = isBusy => {
  if (isBusy || ++lateRounds > MAX_LATE_ROUNDS) return leftBehind('a function that nothing awaits was still running when the script returned');
  for (const { promise, name, stack } of watched.values()) {
    const reason = native.reason_of(promise);
    const failure = reason === undefined ? undefined : thrown(reason[0]).threw;
    return leftBehind(`nothing awaits ${name}${failure ? `; it failed: ${failure.message}` : ''}`, stack, failure?.cause);
  }
  const left = [];
  for (const [id, question] of open) {
    if (question.isTimer) continue;
    if (question.turn === turn) {
      return leftBehind(`the script returned before ${question.name} was sent: \`await\` it, and whatever waits for it`, question.stack);
    }
    left.push([id, question]);
  }
  for (const [id, question] of left) {
    open.delete(id);
    question.failed({ message: `the script returned before ${question.name} was answered: \`await\` it, and whatever waits for it`, code: 'cancelled' });
  }
  if (left.length > 0) return true;
  const unhandled = native.unhandled();
  if (unhandled === undefined) return undefined;
  if (!isArray(unhandled)) return leftBehind('more promises were rejected at a time than are kept, before anything awaited them or caught that');
  const told = thrown(unhandled[0]);
  if (!told.threw) return told;
  const { message: text, stack, cause, reply } = told.threw;
  return leftBehind(`a promise was rejected, and nothing awaits it or catches that: ${text ?? ''}`, stack, cause, reply);
};
const callsAre = async (number, name, payload, ctx) => {
  const script = lastScript;
  const ends = made => {
    if (script === lastScript) outcome ??= made;
  };
  try {
    let program = programs.get(number);
    if (program.promise) {
      try {
        await program.promise;
      } catch {}
      program = programs.get(number);
    }
    if (program.threw) throw program.threw.error;
    const { exports } = program;
    const isObject = (typeof exports === 'object' || typeof exports === 'function') && exports !== null;
    const run = isObject ? exports[name] : undefined;
    if (run === undefined) ends({ broken: 'missing' });
    else if (typeof run !== 'function') ends({ broken: 'no function' });
    else {
      const value = await run(payload, ctx);
      ends({ value });
    }
  } catch (error) {
    ends({ threw: error });
  }
};
// Why a script cannot be loaded.
const failureOf = error => {
  let text = '';
  let stack;
  try {
    text = typeof error === 'object' && error !== null && !isError(error) ? describe(error) : String(error);
    if (typeof error === 'object' && error !== null && typeof error.stack === 'string') stack = error.stack;
  } catch {}
  return stringify({ message: wellFormed(text), stack });
};
const loaded = () => {
  const program = programs.get(loading);
  if (!program || program.promise) return undefined;
  if (program.threw) return failureOf(program.threw.error);
  if (outcome) return failureOf(outcome.threw);
  const unhandled = native.unhandled();
  if (unhandled === undefined) return 'loaded';
  return failureOf(isArray(unhandled) ? unhandled[0] : 'more promises were rejected at a time than are kept');
};

return {
  load(meta, value) {
    begin();
    loading = meta.script;
    if (meta.tells && !isTelling) {
      isTelling = true;
      native.on_clock(() => took('clock'));
    }
    const keep = program => void programs.set(meta.script, program);
    try {
      const exports = value(millrace);
      keep(classOf(exports) === 'Promise' ? { promise: exports } : { exports });
    } catch (error) {
      keep({ threw: { error } });
      return;
    }
    const { promise } = programs.get(meta.script);
    if (promise) promiseConstructor.prototype.then.call(promise, exports => keep({ exports }), error => keep({ threw: { error } }));
  },
  enter(given) {
    // Not for the first script of a call: loading has begun it.
    if (given.isNext) begin();
    turn++;
    message = given;
    const payload = withBigs(given.payload, given.payloadBigs);
    const ctx = contextOf(withBigs(given.ctx, given.ctxBigs), given.required);
    // The same object: in both, a variable that is not set throws.
    if (given.hasEnv) payload.env = ctx.env;
    callsAre(given.script, given.export, payload, ctx);
  },
  settle(id, isAnswer, value, bytes) {
    turn++;
    const question = open.get(id);
    if (!question) return;
    open.delete(id);
    if (isAnswer) question.ok(value, bytes);
    else question.failed(value);
  },
  poll(isBusy) {
    if (!message) {
      return isBusy ? false : loaded();
    }
    if (!outcome) return isBusy ? false : undefined;
    if (!answer) {
      answer = converted();
      const ends = answer.value !== undefined || answer.reply || keys(answer).length === 0 || (answer.threw?.reply && answer.threw.reply.kind !== 'inputRequired');
      if (!ends || outcome.isFinal) return stringify(answer);
      return false;
    }
    const left = leftOver(isBusy);
    if (left === true) return false;
    return stringify(left ?? answer);
  },
};
