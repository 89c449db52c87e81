// The prelude: what stands around the scripts in an instance. It is evaluated once, and is part of every image; what it keeps in variables is
// that of one call, because the image is put back before the next one. The scripts of a call run one after the other (`begin`). A script, or a
// package of it, may change built-ins: what the prelude needs of them it takes before any script runs. So after this head it uses no method of a
// list, a map or a text, no iteration, and no object with a prototype where a member may be missing; a message has no prototype at all, since
// JSON asks each object for a `toJSON`.
//
// The other side is adapters/script/src/wire.rs: the numbers and shapes are the same there.

const ASK = { fetch: 1, query: 2, timer: 3, cache: 4, crypto: 5, api: 6 };
const SAY = {
  log: 10, progress: 11, requireInput: 12, urlParse: 13, urlSet: 14, formParse: 15, formSerialize: 16, digest: 17, takeBack: 18, aborted: 19,
  refused: 20, took: 22, part: 23,
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

const { Array, BigInt, Error, InternalError, JSON, Map, Math, Number, Object, Promise, RangeError, Reflect, String, Symbol, TypeError, Uint8Array, WeakMap } =
  globalThis;
const { stringify, rawJSON, isRawJSON } = JSON;
const { create, defineProperty, freeze, getOwnPropertyDescriptor, getOwnPropertyDescriptors, getPrototypeOf, hasOwn, keys, setPrototypeOf } = Object;
const { apply, defineProperty: redefine } = Reflect;
const { ceil, max, min, trunc } = Math;
const { isFinite, isSafeInteger, MAX_SAFE_INTEGER } = Number;
const isArray = Array.isArray;
const objectPrototype = Object.prototype;
const errorPrototype = Error.prototype;
const toStringTag = Symbol.toStringTag;
// A method as a function of what it is a method of.
const free = method => Function.prototype.call.bind(method);
const indexOf = free(Array.prototype.indexOf);
const find = free(String.prototype.indexOf);
const slice = free(String.prototype.slice);
const upper = free(String.prototype.toUpperCase);
const isWellFormed = free(String.prototype.isWellFormed);
const toWellFormed = free(String.prototype.toWellFormed);
const isoTextOf = free(Date.prototype.toISOString);
const base64Of = free(Uint8Array.prototype.toBase64);
const copyInto = free(Uint8Array.prototype.set);
const section = free(Uint8Array.prototype.subarray);
const objectText = free(objectPrototype.toString);
const symbolText = free(Symbol.prototype.toString);
const then = free(Promise.prototype.then);
const numberOf = free(Number.prototype.valueOf);
const textIn = free(String.prototype.valueOf);
const booleanOf = free(Boolean.prototype.valueOf);
const bigintOf = free(BigInt.prototype.valueOf);
const primitiveOf = { __proto__: null, Number: numberOf, String: textIn, Boolean: booleanOf, BigInt: bigintOf };
const typedArray = getPrototypeOf(Uint8Array.prototype);
const getter = (prototype, name) => free(getOwnPropertyDescriptor(prototype, name).get);
const bufferOf = getter(typedArray, 'buffer');
const offsetOf = getter(typedArray, 'byteOffset');
const lengthOf = getter(typedArray, 'byteLength');
// Maps whose methods are their own.
const closed = constructor => {
  class Closed extends constructor {}
  setPrototypeOf(Closed.prototype, null);
  Object.defineProperties(Closed.prototype, getOwnPropertyDescriptors(constructor.prototype));
  return Closed;
};
const ClosedMap = closed(Map);
const ClosedWeakMap = closed(WeakMap);
// As browsers and Node name the time zone; the engine leaves it out.
for (const name of ['toString', 'toTimeString']) {
  const plain = free(Date.prototype[name]);
  const named = {
    [name]() {
      const text = plain(this);
      return text === 'Invalid Date' ? text : `${text} (Coordinated Universal Time)`;
    },
  };
  defineProperty(Date.prototype, name, { __proto__: null, value: named[name], writable: true, enumerable: false, configurable: true });
}
// What JSON and indices see as it is.
const bare = list => setPrototypeOf(list, null);
const put = (object, name, value) => defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
const member = (object, name) => (hasOwn(object, name) ? object[name] : undefined);
const classOf = native.class_of;

const wellFormed = text => (isWellFormed(text) ? text : toWellFormed(text));
const say = (kind, value, bytes) => native.say(kind, stringify(value) ?? 'null', bytes);

// Integers that a number does not hold come as `[...path, digits]` beside the value.
const withBigs = (value, bigs) => {
  const count = bigs === undefined ? 0 : bigs.length;
  for (let i = 0; i < count; i++) {
    const place = bigs[i];
    const last = place.length - 1;
    const big = BigInt(place[last]);
    if (last === 0) return big;
    let at = value;
    for (let step = 0; step < last - 1; step++) at = at[place[step]];
    at[place[last - 1]] = big;
  }
  return value;
};

// Where the script is: lines of a stack, without those of the prelude.
const trimmed = stack => {
  const text = String(stack);
  let lines = '';
  let count = 0;
  for (let at = 0; at < text.length; ) {
    const found = find(text, '\n', at);
    const end = found < 0 ? text.length : found;
    const line = slice(text, at, end);
    at = end + 1;
    if (line === '' || find(line, '<millrace>') >= 0 || find(line, '<input>') >= 0 || find(line, '(native)') >= 0) continue;
    if (++count > MAX_FRAMES) break;
    lines += `${line}\n`;
  }
  return lines;
};
const where = () => trimmed(new Error().stack);

// Where `check` loads the scripts, it is told what they take while they are evaluated, and where.
let isTelling = false;
let tookCount = 0;
const MAX_CALLS = 50;
const took = what => {
  if (!isTelling || tookCount++ >= MAX_TOOK) return;
  // All callers: whether a file of the app is among them matters.
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = MAX_CALLS;
  const { stack } = new Error();
  Error.stackTraceLimit = limit;
  say(SAY.took, bare([what, wellFormed(String(stack))]));
};

// questions to the host

const open = new ClosedMap(); // id → { ok, failed, name, stack, turn, size, isTimer }
const timers = new ClosedMap(); // id of the script → id of the host
let turn = 0;
let causes = new ClosedWeakMap();
let causesCount = 0;
let askedBytes = 0; // of the questions that are open
const quietTimers = new ClosedMap(); // ids of the host: timers that need not have been cleared when the call ends

// `answer` is what an API said. Its body is not among what is copied or shown of an error.
const hostError = (constructor, message, code, cause, stack, answer) => {
  const error = new constructor(message);
  put(error, 'code', code);
  if (answer) {
    put(error, 'status', answer.status);
    defineProperty(error, 'body', { __proto__: null, value: answer.body, writable: true, configurable: true });
  }
  defineProperty(error, 'stack', { __proto__: null, value: stack, writable: true, configurable: true });
  if (causesCount++ < MAX_CAUSES) causes.set(error, { __proto__: null, cause, stack });
  return error;
};

// The host keeps what it is asked for until it has answered: as many bytes as the script itself may have.
const ask = (kind, value, bytes, constructor, name, stack, ok, failed) => {
  took('outside');
  const text = stringify(value);
  const size = native.utf8_length(text) + lengthOf(bytes);
  if (message && askedBytes + size > message.memory) {
    throw new RangeError(`${name} was not sent: more than ${message.memory} bytes were on their way (\`limits.script.memory\`)`);
  }
  const id = native.ask(kind, text, bytes);
  askedBytes += size;
  const refused = (text, code, cause, answer) => failed(hostError(constructor, text, code, cause, stack, answer));
  open.set(id, { __proto__: null, ok, failed: refused, name, stack, turn, size, isTimer: false });
  return id;
};
// The question that is no longer open, if it was.
const closeQuestion = id => {
  const question = open.get(id);
  if (question !== undefined) {
    open.delete(id);
    askedBytes -= question.size;
  }
  return question;
};

// Promises of the host that nothing has looked at. Whatever waits for a promise first reads its `constructor`.
const watched = new ClosedMap();
let lastWatched = 0;
const watch = (promise, name, stack) => {
  if (watched.size >= MAX_PENDING) throw new RangeError(`more than ${MAX_PENDING} queries and requests that nothing waits for`);
  const id = ++lastWatched;
  watched.set(id, { __proto__: null, promise, name, stack });
  const get = () => {
    watched.delete(id);
    return Promise;
  };
  defineProperty(promise, 'constructor', { __proto__: null, get, configurable: true });
  return promise;
};

// values

const IDENTIFIER = /^[\p{L}\p{Nl}_$][\p{L}\p{Nl}\p{Nd}_$]*$/u;
// `test` asks for `exec`.
defineProperty(IDENTIFIER, 'exec', { value: IDENTIFIER.exec });
const matches = free(IDENTIFIER.test);
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

const replaced = (text, from, to) => {
  const at = find(text, from);
  return at < 0 ? text : slice(text, 0, at) + to + replaced(slice(text, at + from.length), from, to);
};
const inAnArgument = what => replaced(replaced(what, 'throw it, or return ', 'pass '), '; return ', '; pass ');

// A value as one that JSON holds, `undefined` for none: what it becomes is made of null, texts, numbers, and lists and objects without a
// prototype. `isParameter`: a database gets it, which has integers that callers have not. Gives what is left of the room.
const walker = (root, room, isParameter) => {
  const path = bare([]);
  const ancestors = bare([]);
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
      else if (matches(IDENTIFIER, step)) text += `.${step}`;
      else text += `[${stringify(step)}]`;
    }
    return text;
  };
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
      return rawJSON(`${value}`);
    }
    const small = value >= -9007199254740991n && value <= 9007199254740991n;
    return small ? Number(value) : `${value}`;
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
    const ancestor = indexOf(ancestors, value);
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
    if (kind === 'Number' || kind === 'String' || kind === 'Boolean' || kind === 'BigInt') return walk(primitiveOf[kind](value), '');
    ancestors[ancestors.length] = value;
    const made = isArray(value) ? list(value) : plain(value, kind);
    ancestors.length--;
    return made;
  };
  const list = value => {
    const length = min(max(trunc(Number(value.length)) || 0, 0), MAX_SAFE_INTEGER);
    spend(2);
    if (length > left) throw TOO_LONG;
    const made = bare([]);
    for (let i = 0; i < length; i++) {
      spend(i > 0 ? 1 : 0);
      path[path.length] = i;
      const item = walk(value[i], String(i));
      if (item === undefined) refuse('is undefined, which JSON would turn into null; return null');
      made[i] = item;
      path.length--;
    }
    return made;
  };
  const plain = (value, kind) => {
    spend(2);
    const names = keys(value);
    const prototype = getPrototypeOf(value);
    if (kind !== 'Object' || names.length === 0 || (prototype !== objectPrototype && prototype !== null)) look(value, kind, prototype, names.length === 0);
    const made = create(null);
    for (let i = 0; i < names.length; i++) {
      const key = names[i];
      path[path.length] = key;
      const item = walk(value[key], key);
      if (item !== undefined) {
        spend(key.length + 4);
        made[wellFormed(key)] = item;
      }
      path.length--;
    }
    return made;
  };
  const look = (value, kind, prototype, isEmpty) => {
    const tag = HIDES_ITS_CONTENT[kind] ? kind : value[toStringTag];
    const constructor = isEmpty ? value.constructor : Object;
    const named = constructor !== null && (typeof constructor === 'object' || typeof constructor === 'function') ? constructor.name : '';
    const refused = say(SAY.refused, {
      __proto__: null,
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
    return { __proto__: null, value: walking.walk(value, ''), left: walking.left() };
  } catch (error) {
    if (error instanceof NotJson) throw new TypeError(`${what}: ${error.text}`);
    if (error === TOO_LONG) throw new RangeError(`${what} is too long`);
    throw error;
  }
};

// replies

const replies = new ClosedWeakMap();
let repliesCount = 0;
const tag = reply => {
  if (repliesCount >= MAX_PENDING) throw new RangeError(`more than ${MAX_PENDING} replies in one call`);
  repliesCount++;
  const object = freeze({});
  replies.set(object, setPrototypeOf(reply, null));
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
  for (let i = 0; i < names.length; i++) {
    const value = options[names[i]];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
};
const toolErrorOptions = options => {
  const text = name => {
    const value = option(options, name);
    return value === undefined ? undefined : String(value);
  };
  const reply = { __proto__: null, message: text('message'), suggestion: text('suggestion'), severity: text('severity') };
  const { severity } = reply;
  if (severity !== undefined && severity !== 'warning' && severity !== 'error' && severity !== 'critical') {
    throw new TypeError('`severity` of `toolError` must be `warning`, `error` or `critical`');
  }
  const actions = option(options, 'available_actions', 'availableActions');
  if (actions !== undefined) {
    if (!isArray(actions)) throw new TypeError('`available_actions` of `toolError` must be an array of tool names');
    if (actions.length > MAX_PENDING) throw new RangeError(`\`available_actions\` of \`toolError\` must have at most ${MAX_PENDING} names`);
    const names = (reply.available_actions = bare([]));
    for (let i = 0; i < actions.length; i++) names[i] = wellFormed(String(actions[i]));
  }
  const details = option(options, 'details');
  if (details !== undefined) {
    const members = argument(details, MAX_BUFFER_LENGTH, 'details', '`toolError`').value;
    if (typeof members !== 'object' || members === null || isArray(members)) throw new TypeError('`details` of `toolError` must be an object');
    const names = keys(members);
    const told = (reply.details = bare([]));
    for (let i = 0; i < names.length; i++) {
      const value = members[names[i]];
      told[i] = bare([names[i], typeof value === 'string' ? value : stringify(value)]);
    }
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
    const told = textOf(code);
    if (options === undefined || options === null) return tag({ kind: 'toolError', code: told });
    if (typeof options !== 'object') throw new TypeError('the second argument of `toolError` must be an object');
    return tag({ kind: 'toolError', code: told, ...toolErrorOptions(options) });
  },
  anonymous: options => tag({ kind: 'anonymous', members: argument(options, MAX_QUESTION_LENGTH, 'options', 'the argument of `anonymous`').value ?? null }),
  requireInput(requests) {
    const asked = argument(requests, MAX_QUESTION_LENGTH, 'requests', 'the argument of `requireInput`').value;
    const answer = say(SAY.requireInput, asked ?? null);
    if (answer === undefined) throw new Error('`requireInput` works in a call only');
    const error = member(answer, 'error');
    if (error) throw hostError(TypeError, error.message, error.code, error.cause, where());
    if (!hasOwn(answer, 'answers')) throw tag({ kind: 'inputRequired' });
    return withBigs(answer.answers, answer.bigs);
  },
};
const [exports, build] = written({ content: data => tag({ kind: 'content', data }), base64: base64Of });
Object.assign(millrace, exports);
Object.setPrototypeOf(millrace, null);
freeze(millrace);
const built = value => (typeof value === 'object' && value !== null ? build(value) : value);

// globals

const global = (name, value) => defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
global('self', globalThis);
global('global', globalThis);
defineProperty(Math, 'random', { value: { random: () => (took('random'), native.fraction()) }.random, writable: true, enumerable: false, configurable: true });

// The time since the call began. While scripts are loaded there is none.
let timeOrigin;
// A millisecond before: packages take a time of 0 for one that is not set, as it never is elsewhere.
const originNow = () => (timeOrigin ??= native.clock() - 1);
const performance = {
  now: () => (took('clock'), originNow(), native.clock() - timeOrigin),
  get timeOrigin() {
    took('clock');
    return originNow();
  },
  toJSON: () => ({ timeOrigin: performance.timeOrigin }),
};
// Marks are part of the part `more`.
for (const name of ['mark', 'measure', 'clearMarks', 'clearMeasures', 'getEntries', 'getEntriesByType', 'getEntriesByName']) {
  performance[name] = (...values) => apply(part('more').timing[name], undefined, values);
  defineProperty(performance[name], 'name', { value: name, configurable: true });
}
defineProperty(performance, toStringTag, { value: 'Performance', configurable: true });
global('performance', performance);

// Classes that few programs name. The host has their text, and says when a program is loaded which of them it names: those are evaluated first,
// and are part of the image. Any other is evaluated where it is asked for.
const parts = new ClosedMap();
const evaluate = globalThis.eval;
const PARTS = {
  __proto__: null,
  streams: [
    'ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamBYOBReader', 'ReadableStreamDefaultController', 'ReadableByteStreamController',
    'ReadableStreamBYOBRequest', 'WritableStream', 'WritableStreamDefaultWriter', 'WritableStreamDefaultController', 'TransformStream',
    'TransformStreamDefaultController', 'ByteLengthQueuingStrategy', 'CountQueuingStrategy', 'TextDecoderStream', 'TextEncoderStream',
  ],
  files: ['Blob', 'File', 'FormData'],
  crypto: ['CryptoKey', 'SubtleCrypto'],
  more: ['MessageChannel', 'MessageEvent', 'MessagePort', 'PerformanceEntry', 'PerformanceMark', 'PerformanceMeasure'],
};
const part = name => {
  const known = parts.get(name);
  if (known !== undefined) return known;
  const made = evaluate(say(SAY.part, name))(platform, platform.web);
  parts.set(name, made);
  return made;
};
for (const name of keys(PARTS)) {
  for (const constructor of PARTS[name]) {
    defineProperty(globalThis, constructor, {
      get: () => {
        const value = part(name).globals[constructor];
        // Not where a script has frozen them.
        redefine(globalThis, constructor, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
        return value;
      },
      set: value => global(constructor, value),
      enumerable: false,
      configurable: true,
    });
  }
}

// The engine takes the bytes that such a list needs modulo 2^32, and would write where there is no memory.
const MAX_COPIED_LENGTH = 2 ** 29 - 1;
const copies = ['toReversed', 'toSorted', 'toSpliced', 'with'];
for (const name of copies) {
  const original = Array.prototype[name];
  const guarded = {
    copy(...values) {
      if (this !== null && this !== undefined && this.length > MAX_COPIED_LENGTH) throw new RangeError('invalid array length');
      return apply(original, this, values);
    },
  }.copy;
  defineProperty(guarded, 'name', { value: name, configurable: true });
  defineProperty(guarded, 'length', { value: original.length, configurable: true });
  defineProperty(Array.prototype, name, { value: guarded, writable: true, enumerable: false, configurable: true });
}

// As answers have it: JSON has no integers of its own.
defineProperty(BigInt.prototype, 'toJSON', {
  value: {
    toJSON() {
      const value = bigintOf(this);
      return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : `${value}`;
    },
  }.toJSON,
  writable: true,
  enumerable: false,
  configurable: true,
});

const log = (reader, level, text) => {
  took('log');
  say(SAY.log, bare([reader, level, wellFormed(text)]));
};

// A value in a line for the operator: text as it is, an object as JSON.
const shown = value => {
  if (typeof value === 'symbol') return symbolText(value);
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
const line = (values, show, first = '') => {
  let text = first;
  for (let i = 0; i < values.length; i++) text += (text === '' && i === 0 ? '' : ' ') + show(values[i]);
  return text;
};
const SHOWN_AS = {
  __proto__: null,
  s: shown,
  d: value => (typeof value === 'bigint' ? `${value}n` : typeof value === 'object' || typeof value === 'symbol' ? 'NaN' : `${Number(value)}`),
  i: value => (typeof value === 'bigint' ? `${value}n` : typeof value === 'object' || typeof value === 'symbol' ? 'NaN' : `${trunc(Number(value))}`),
  f: value => (typeof value === 'symbol' ? 'NaN' : `${Number(value)}`),
  j: shown,
  o: shown,
  O: shown,
  c: () => '',
};
// The first value may say how the next ones are shown: `%s`.
const formatted = values => {
  const format = values[0];
  if (typeof format !== 'string' || values.length < 2 || find(format, '%') < 0) return line(values, shown);
  let text = '';
  let used = 1;
  for (let at = 0; at < format.length; at++) {
    const letter = format[at + 1];
    if (format[at] !== '%' || (letter !== '%' && SHOWN_AS[letter] === undefined) || (letter !== '%' && used >= values.length)) {
      text += format[at];
      continue;
    }
    text += letter === '%' ? '%' : SHOWN_AS[letter](values[used++]);
    at++;
  }
  for (; used < values.length; used++) text += ` ${shown(values[used])}`;
  return text;
};
const MAX_CELLS = 10000;
// A table as lines of text: a row for each member, a column for each name that a row has.
const tableOf = (data, only) => {
  const columns = bare([]);
  const rows = bare([]);
  let hasValues = false;
  const names = keys(data);
  for (let i = 0; i < names.length; i++) {
    const row = data[names[i]];
    const cells = create(null);
    if (typeof row === 'object' && row !== null) {
      const members = keys(row);
      for (let m = 0; m < members.length; m++) {
        if (only !== undefined && indexOf(only, members[m]) < 0) continue;
        cells[members[m]] = shown(row[members[m]]);
        if (indexOf(columns, members[m]) < 0) columns[columns.length] = members[m];
      }
    } else hasValues = true;
    rows[rows.length] = bare([names[i], cells, typeof row === 'object' && row !== null ? '' : shown(row)]);
    if (rows.length * (columns.length + 2) > MAX_CELLS) return shown(data);
  }
  const lines = bare([]);
  const add = (index, cellOf, last) => {
    const cells = bare([index]);
    for (let i = 0; i < columns.length; i++) cells[i + 1] = cellOf(columns[i]);
    if (hasValues) cells[cells.length] = last;
    lines[lines.length] = cells;
  };
  add('(index)', column => column, 'Values');
  for (let i = 0; i < rows.length; i++) add(rows[i][0], column => rows[i][1][column] ?? '', rows[i][2]);
  const widths = bare([]);
  for (let i = 0; i < lines.length; i++) for (let c = 0; c < lines[i].length; c++) widths[c] = max(widths[c] ?? 0, lines[i][c].length);
  let text = '';
  for (let i = 0; i < lines.length; i++) {
    text += i === 0 ? '|' : '\n|';
    for (let c = 0; c < lines[i].length; c++) {
      text += ` ${lines[i][c]}`;
      for (let pad = lines[i][c].length; pad < widths[c]; pad++) text += ' ';
      text += ' |';
    }
  }
  return text;
};
let indent = '';
const counts = new ClosedMap();
const clocks = new ClosedMap();
const MAX_LABELS = 1000;
const keptIn = (map, label, value) => {
  if (map.size < MAX_LABELS || map.get(label) !== undefined) map.set(label, value);
};
const tell = (level, text) => log(OPERATOR, level, indent + text);
const speaker = level => ({ console: (...values) => tell(level, formatted(values)) }).console;
const group = (...values) => {
  if (values.length > 0) tell(LEVEL.info, formatted(values));
  if (indent.length < 2 * MAX_CAUSES) indent += '  ';
};
const labelOf = label => (label === undefined ? 'default' : `${label}`);
const elapsed = (label, values) => {
  const begun = clocks.get(label);
  if (begun === undefined) tell(LEVEL.warn, `the timer \`${label}\` was not started`);
  else tell(LEVEL.info, line(values, shown, `${label}: ${performance.now() - begun} ms`));
};
const console = {
  debug: speaker(LEVEL.debug),
  trace: (...values) => tell(LEVEL.debug, `${line(values, shown, 'Trace:')}\n${where()}`),
  log: speaker(LEVEL.info),
  info: speaker(LEVEL.info),
  table: (data, only) => tell(LEVEL.info, typeof data === 'object' && data !== null ? tableOf(data, isArray(only) ? only : undefined) : shown(data)),
  dir: value => tell(LEVEL.info, shown(value)),
  dirxml: speaker(LEVEL.info),
  warn: speaker(LEVEL.warn),
  error: speaker(LEVEL.error),
  assert(condition, ...values) {
    if (!condition) tell(LEVEL.error, values.length > 0 ? `assertion failed: ${formatted(values)}` : 'assertion failed');
  },
  group,
  groupCollapsed: group,
  groupEnd() {
    indent = slice(indent, 2);
  },
  count(given) {
    const label = labelOf(given);
    const count = (counts.get(label) ?? 0) + 1;
    keptIn(counts, label, count);
    tell(LEVEL.info, `${label}: ${count}`);
  },
  countReset: given => void counts.delete(labelOf(given)),
  time: given => keptIn(clocks, labelOf(given), performance.now()),
  timeLog: (given, ...values) => elapsed(labelOf(given), values),
  timeEnd(given) {
    elapsed(labelOf(given), bare([]));
    clocks.delete(labelOf(given));
  },
};
for (const name of keys(console)) defineProperty(console[name], 'name', { value: name, configurable: true });
defineProperty(console, toStringTag, { value: 'console', configurable: true });
global('console', console);

// What is thrown where nobody waits for it ends the call.
const running = work => {
  try {
    work();
  } catch (error) {
    end('threw', error, true);
  }
};
const callback = (name, value) => {
  if (typeof value !== 'function') throw new TypeError(`\`${name}\` takes a function`);
  return value;
};
let lastTimer = 0;
const timer = (name, repeats, work, ms, values, isQuiet, isAtOnce) => {
  callback(name, work);
  if (timers.size >= MAX_PENDING) throw new RangeError('too many timers at a time');
  const delay = Number(ms);
  // As Node counts: what is less than a millisecond, or not a time, is one.
  const delayMs = isAtOnce ? 0 : delay >= 1 && delay <= MAX_DELAY_MS ? trunc(delay) : 1;
  const id = ++lastTimer;
  took('timer');
  const start = again => {
    const question = native.ask(ASK.timer, stringify(bare([delayMs, again])));
    timers.set(id, question);
    if (isQuiet) quietTimers.set(question, id);
    const ok = () => {
      timers.delete(id);
      quietTimers.delete(question);
      if (repeats) start(true);
      running(() => apply(work, undefined, values));
    };
    open.set(question, { __proto__: null, ok, isTimer: true, size: 0 });
  };
  start(false);
  return id;
};
const clear = id => {
  const number = typeof id === 'object' || typeof id === 'function' ? NaN : Number(id);
  const question = timers.get(number);
  if (question === undefined) return;
  timers.delete(number);
  quietTimers.delete(question);
  closeQuestion(question);
  say(SAY.takeBack, question);
};
const later = queueMicrotask;
const globals = {
  setTimeout: (work, ms, ...values) => timer('setTimeout', false, work, ms, values, false),
  setInterval: (work, ms, ...values) => timer('setInterval', true, work, ms, values, false),
  clearTimeout: id => clear(id),
  clearInterval: id => clear(id),
  setImmediate: (work, ...values) => timer('setImmediate', false, work, 0, values, false, true),
  clearImmediate: id => clear(id),
  queueMicrotask(work) {
    callback('queueMicrotask', work);
    later(() => running(() => work()));
  },
};
for (const [name, value] of Object.entries(globals)) global(name, value);

const bytesOf = value => {
  if (classOf(value) === 'ArrayBuffer') return new Uint8Array(value);
  const kind = classOf(value);
  if (kind !== undefined && kind !== 'Array' && slice(kind, -5) === 'Array') return new Uint8Array(bufferOf(value), offsetOf(value), lengthOf(value));
  return undefined;
};

const platform = {
    // `{ answer, takeBack(reason) }`: what is taken back is no longer asked.
    fetch(method, url, headers, body, redirect) {
      if (open.size >= MAX_PENDING) throw new RangeError('too many requests at a time');
      const stack = where();
      const pairs = bare([]);
      for (let i = 0; i < headers.length; i++) pairs[i] = wellFormed(headers[i]);
      let takeBack = () => {};
      const answer = new Promise((resolve, reject) => {
        const ok = (value, bytes) => resolve(bare([value[0], value[1], bytes ?? new Uint8Array(), value[2], value[3]]));
        const question = bare([method, wellFormed(url), pairs, redirect]);
        const id = ask(ASK.fetch, question, body, TypeError, '`fetch(…)`', stack, ok, reject);
        takeBack = reason => {
          if (closeQuestion(id) === undefined) return;
          say(SAY.takeBack, id);
          reject(reason);
        };
      });
      return { __proto__: null, answer, takeBack };
    },
    watch: promise => watch(promise, '`fetch(…)`', where()),
    // What the host computes: bytes, or a value.
    compute(question, bytes) {
      if (open.size >= MAX_PENDING) throw new RangeError('too many operations of `crypto.subtle` at a time');
      const stack = where();
      return new Promise((resolve, reject) => {
        ask(ASK.crypto, question, bytes, Error, '`crypto.subtle`', stack, (value, made) => resolve(bare([value, made])), reject);
      });
    },
    // A timer that nobody can clear.
    after: (work, ms) => void timer('AbortSignal.timeout', false, work, ms, [], true),
    running,
    // Of an event: no script takes the time by it.
    now: () => (message ? performance.now() : 0),
    classOf,
    wellFormed,
    urlParse: (url, base) => say(SAY.urlParse, base === undefined ? bare([wellFormed(url)]) : bare([wellFormed(url), wellFormed(base)])),
    urlSet: (href, name, value) => say(SAY.urlSet, bare([href, name, wellFormed(value)])),
    formParse: text => say(SAY.formParse, wellFormed(text)),
    formSerialize: texts => say(SAY.formSerialize, texts),
    utf8Encode: text => native.encode(wellFormed(text)),
    utf8Decode(bytes, fatal, keepMark) {
      const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
      const text = native.decode(hasMark && !keepMark ? section(bytes, 3) : bytes, fatal);
      if (text === undefined) throw new TypeError('the bytes are not valid UTF-8');
      return text;
    },
    // How many bytes at the end begin a character that is not there as a whole.
    utf8Tail(bytes) {
      for (let length = 1; length <= min(lengthOf(bytes), 3); length++) {
        const at = lengthOf(bytes) - length;
        const byte = bytes[at];
        if (byte >= 0x80 && byte <= 0xbf) continue;
        const needed = byte >= 0xc2 && byte <= 0xdf ? 2 : byte >= 0xe0 && byte <= 0xef ? 3 : byte >= 0xf0 && byte <= 0xf4 ? 4 : 0;
        if (length >= needed) return 0;
        const second = length > 1 ? bytes[at + 1] : 0x90;
        const isOne =
          length === 1 || (second >= (byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80) && second <= (byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf));
        return isOne ? length : 0;
      }
      return 0;
    },
    latin1: bytes => unitText(bytes),
    performance,
    part,
    hasPart: name => parts.get(name) !== undefined,
    random(length) {
      took('random');
      const bytes = new Uint8Array(length);
      native.random(bytes);
      return bytes;
    },
    // Undefined of an algorithm that is not there.
    digest(name, bytes) {
      const made = say(SAY.digest, name, bytes);
      return made ? made[1] : undefined;
    },
};
const { web: shared, signalOfCall, unitText } = web(platform, global);
platform.web = shared;

// ctx

// A parameter of `user` as the host reads it: `[type, value]`. Bytes go into `tails`.
const parameterEncoder = user => {
  let left = MAX_BUFFER_LENGTH;
  const tails = bare([]);
  let tailLength = 0;
  const spend = length => {
    left -= length;
    if (left < 0) throw new RangeError(`the parameters of ${user} are too long`);
  };
  // What is common goes without a walk; its place is written down only where something is wrong.
  const steps = bare([]);
  let root;
  const place = () => {
    let text = root;
    for (let i = 0; i < steps.length; i++) text += `[${steps[i]}]`;
    return text;
  };
  const encode = value => {
    if (value === undefined || value === null) return bare(['z']);
    if (typeof value === 'string') return spend(value.length + 2), bare(['s', wellFormed(value)]);
    if (typeof value === 'boolean') return bare(['b', value]);
    if (typeof value === 'number' && value - value === 0) return spend(1), bare(isSafeInteger(value) ? ['i', `${value}`] : ['f', value]);
    if (typeof value === 'bigint') return bare(['i', `${value}`]);
    if (typeof value === 'object') {
      if (isArray(value)) return bare(['l', list(value)]);
      const bytes = bytesOf(value);
      if (bytes) {
        const length = lengthOf(bytes);
        spend(length);
        tails[tails.length] = bytes;
        tailLength += length;
        return bare(['y', length]);
      }
      if (classOf(value) === 'Date') return bare(['t', isoTextOf(value)]);
    }
    const made = argument(value, left, place(), `a parameter of ${user}`, true);
    const json = made.value;
    left = made.left;
    if (json === undefined || json === null) return bare(['z']);
    if (typeof json !== 'object') return encode(json);
    if (isRawJSON(json)) return bare(['i', json.rawJSON]);
    return bare(['j', json]);
  };
  const list = value => {
    if (steps.length > MAX_DEPTH) throw new RangeError(`a parameter of ${user} is nested more than ${MAX_DEPTH} levels deep`);
    const { length } = value;
    // Before anything is read: the list may be a sparse one.
    spend(length * ELEMENT_LENGTH);
    const items = bare([]);
    for (let i = 0; i < length; i++) {
      steps[steps.length] = i;
      if (value[i] === undefined) throw new TypeError(`a parameter of ${user}: \`${place()}\` is undefined; write null`);
      items[i] = encode(value[i]);
      steps.length--;
    }
    return items;
  };
  const encodeAll = params => {
    const all = bare([]);
    for (let i = 0; i < params.length; i++) {
      steps[steps.length] = i;
      all[i] = encodeAs('params', params[i]);
      steps.length--;
    }
    return all;
  };
  const encodeAs = (name, value) => {
    root = name;
    return encode(value);
  };
  const joined = () => {
    const all = new Uint8Array(tailLength);
    let at = 0;
    for (let i = 0; i < tails.length; i++) {
      copyInto(all, tails[i], at);
      at += lengthOf(tails[i]);
    }
    return all;
  };
  return { encodeAll, encodeAs, joined };
};

const rowsOf = answer => {
  const columns = answer[0];
  const rows = answer[1];
  withBigs(rows, answer[2]);
  // What an object inherits may have a setter, or refuse to be hidden.
  const isInherited = bare([]);
  for (let i = 0; i < columns.length; i++) isInherited[i] = columns[i] in objectPrototype;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    const object = {};
    for (let i = 0; i < columns.length; i++) {
      if (isInherited[i]) put(object, columns[i], row[i]);
      else object[columns[i]] = row[i];
    }
    rows[at] = object;
  }
  return rows;
};

// The promise of what `read` makes of the answer.
const asked = (kind, question, bytes, name, read) => {
  const stack = where();
  const promise = new Promise((resolve, reject) => ask(kind, question, bytes, Error, name, stack, answer => resolve(read(answer)), reject));
  return watch(promise, name, stack);
};

const db = adapter => {
  if (typeof adapter !== 'string') throw new TypeError('`ctx.db` takes the name of an adapter');
  return freeze({
    query(text, params) {
      if (open.size >= MAX_PENDING) throw new RangeError('too many queries at a time');
      if (typeof text !== 'string') throw new TypeError('`query` takes a statement and an array of values');
      const encoder = parameterEncoder('`query`');
      let encoded = bare([]);
      if (params !== undefined) {
        if (!isArray(params)) throw new TypeError('the values of `query` must be an array');
        if (params.length > MAX_PENDING) throw new RangeError('too many values for one `query`');
        encoded = encoder.encodeAll(params);
      }
      const name = `\`ctx.db(${stringify(adapter)}).query(…)\``;
      return asked(ASK.query, bare([wellFormed(adapter), wellFormed(text), encoded]), encoder.joined(), name, rowsOf);
    },
  });
};

// What a request of each method can have: the first ones, as many as the number says.
const OF_REQUESTS = bare(['params', 'query', 'headers', 'result', 'page', 'body', 'form', 'reads']);
const REQUESTS = { get: 5, head: 3, post: 8, put: 7, patch: 7, delete: 7 };
// The document that a tool's request is, in text, with `$1` and so on for values. The connector
// judges it.
const request = (adapter, verb, path, options = {}) => {
  const name = `\`ctx.api(${stringify(adapter)}).${verb}(…)\``;
  const wrong = text => {
    throw new TypeError(`${name}: ${text}`);
  };
  if (open.size >= MAX_PENDING) throw new RangeError('too many queries at a time');
  if (typeof path !== 'string') wrong('the path must be a text');
  const encoder = parameterEncoder(name);
  const values = bare([]);
  const document = { __proto__: null, method: upper(verb), path: bare([]) };
  const place = (name, value) => {
    if (values.length >= MAX_PENDING) wrong('it has too many values');
    values[values.length] = encoder.encodeAs(name, value);
    return `$${values.length}`;
  };
  // A `Map`, `Headers` and the like have no names.
  const namesOf = (object, what) => {
    const prototype = typeof object === 'object' && object !== null ? getPrototypeOf(object) : undefined;
    if (prototype !== null && prototype !== objectPrototype) wrong(`\`${what}\` must be a plain object`);
    return keys(object);
  };
  let params = {};
  const names = namesOf(options, 'options');
  for (let i = 0; i < names.length; i++) {
    const key = names[i];
    const value = options[key];
    const at = indexOf(OF_REQUESTS, key);
    if (at < 0 || at >= REQUESTS[verb]) wrong(`\`${key}\` is not an option`);
    if (value === undefined) continue;
    if (key === 'params') {
      namesOf(value, key);
      params = value;
    } else if (key === 'query' || key === 'headers' || key === 'form') {
      const fields = namesOf(value, key);
      const made = (document[key] = bare([]));
      for (let f = 0; f < fields.length; f++) {
        const given = value[fields[f]];
        if (given !== undefined && given !== null) made[made.length] = bare([wellFormed(fields[f]), place(`${key}.${fields[f]}`, given)]);
      }
    } else document[key] = key === 'body' ? place(key, value) : argument(value, MAX_QUESTION_LENGTH, key, name).value;
  }
  if (document.body && document.form) wrong('a request has either `body` or `form`');
  if (document.page && verb !== 'get' && !document.reads) wrong('`page` is for a request that only reads');
  for (let at = 0, end; ; at = end + 1) {
    const start = find(path, '{', at);
    end = start < 0 ? -1 : find(path, '}', start);
    document.path[document.path.length] = wellFormed(slice(path, at, end < 0 ? path.length : start));
    if (end < 0) break;
    const key = slice(path, start + 1, end);
    const value = member(params, key);
    if (value === undefined || value === null) wrong(`\`params.${key}\` has no value`);
    document.path[document.path.length] = place(`params.${key}`, value);
  }
  return asked(ASK.api, bare([wellFormed(adapter), stringify(document), values]), encoder.joined(), name, answer => {
    const value = withBigs(answer[0], answer[1]);
    if (answer[2] && isArray(value)) defineProperty(value, 'truncated', { __proto__: null, value: true });
    return value;
  });
};
const verbs = keys(REQUESTS);
const api = adapter => {
  if (typeof adapter !== 'string') throw new TypeError('`ctx.api` takes the name of an adapter');
  const made = {};
  for (let i = 0; i < verbs.length; i++) put(made, verbs[i], (path, options) => request(adapter, verbs[i], path, options));
  return freeze(made);
};

const ofCache = (name, question, read) => {
  if (open.size >= MAX_PENDING) throw new RangeError('too many uses of `ctx.cache` at a time');
  if (typeof question[0] !== 'string') throw new TypeError('`ctx.cache` takes a key that is a text');
  question[0] = wellFormed(question[0]);
  return asked(ASK.cache, question, new Uint8Array(), name, read);
};
const cache = {
  get: key => ofCache('`ctx.cache.get(…)`', bare([key]), found => (found.length === 0 ? undefined : withBigs(found[0], found[1]))),
  put(key, value, options) {
    const json = argument(value, MAX_BUFFER_LENGTH, 'value', 'the value of `ctx.cache.put`').value;
    if (json === undefined) throw new TypeError('`ctx.cache.put` takes a key, a value of JSON and `{ ttl }`');
    const ttl = typeof options === 'object' && options !== null ? options.ttl : undefined;
    if (typeof ttl !== 'number') throw new TypeError('`ctx.cache.put` takes `{ ttl }`, a number of seconds, as its third argument');
    return ofCache('`ctx.cache.put(…)`', bare([key, json, isFinite(ttl) ? ttl : 0]), () => undefined);
  },
};

// A value in a line for the caller: JSON where it is JSON.
const shownToCaller = value => {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return `${value}`;
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
  return typeof value === 'object' && value !== null ? objectText(value) : String(value);
};
const teller = level => (...values) => log(CALLER, level, line(values, shownToCaller));
const contextLog = { debug: teller(LEVEL.debug), info: teller(LEVEL.info), warn: teller(LEVEL.warn), error: teller(LEVEL.error) };
const progress = (done, total, message) => {
  const number = Number(done);
  if (!isFinite(number)) throw new TypeError('`progress` takes a number');
  const all = total === undefined || total === null ? NaN : Number(total);
  say(SAY.progress, bare([number, isFinite(all) ? all : null, message === undefined || message === null ? null : wellFormed(String(message))]));
};
const signal = signalOfCall(() => !!say(SAY.aborted, null));
for (const name of keys(contextLog)) freeze(contextLog[name]);
for (const name of keys(cache)) freeze(cache[name]);
const contextFunctions = { log: freeze(contextLog), progress: freeze(progress), db: freeze(db), api: freeze(api), cache: freeze(cache), signal: freeze(signal) };
const contextNames = keys(contextFunctions);

const frozen = value => {
  if (typeof value !== 'object' || value === null) return value;
  const names = keys(value);
  for (let i = 0; i < names.length; i++) frozen(value[names[i]]);
  return freeze(value);
};
const contextOf = (data, required) => {
  const ctx = {};
  const names = keys(data);
  for (let i = 0; i < names.length; i++) {
    const value = data[names[i]];
    if (names[i] === 'env' && typeof value === 'object' && value !== null) {
      for (let at = 0; at < required.length; at++) {
        const name = required[at];
        if (hasOwn(value, name)) continue;
        const message = `the environment variable \`${name}\` is not set (\`${name}?\` under \`env\` lists one that may be missing)`;
        const get = () => {
          throw new Error(message);
        };
        // Not enumerable: whoever copies what there is does not read what is not.
        defineProperty(value, name, { __proto__: null, get, enumerable: false, configurable: true });
      }
    }
    put(ctx, names[i], frozen(value));
  }
  for (let i = 0; i < contextNames.length; i++) put(ctx, contextNames[i], contextFunctions[contextNames[i]]);
  return freeze(ctx);
};

// What `process.env` of Node's modules reads; `null` while scripts are loaded.
let environment = null;
defineProperty(globalThis, Symbol.for('millrace.env'), { __proto__: null, get: () => environment, enumerable: false, configurable: false });

// the call

const programs = new ClosedMap(); // number of the script → { exports } or { promise } or { threw }
let loading; // the number of the one that was loaded last
let message;
let outcome; // { is, value, isFinal }, once the script is done: `is` says whether it returned, threw, or is broken
let answer; // what the host is told
let lateRounds = 0;
let lastScript = 0;

const end = (is, value, isFinal) => {
  outcome ??= { __proto__: null, is, value, isFinal };
};

// What an earlier script of the call has left is not of the next one. What it keeps in its variables stays.
const begin = () => {
  open.clear();
  timers.clear();
  watched.clear();
  quietTimers.clear();
  causes = new ClosedWeakMap();
  askedBytes = 0;
  indent = '';
  causesCount = repliesCount = lateRounds = tookCount = 0;
  message = outcome = answer = undefined;
  environment = null;
  lastScript++;
  native.forget();
};

const textMember = (value, name) => {
  try {
    const text = value[name];
    if (typeof text === 'string') return text;
  } catch {}
  return undefined;
};
const describe = value => {
  if (typeof value === 'string') return value;
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    const text = textMember(value, 'message') || textMember(value, 'name');
    if (text !== undefined) return text;
    return typeof value === 'function' ? 'the script threw a function' : 'the script threw an object without `message`';
  }
  return `the script threw \`${typeof value === 'bigint' ? `${value}n` : String(value)}\``;
};
// The limit that the engine itself ran into. A text may not be longer than 2^30 - 1, whatever the limit is.
const limitOf = value => {
  if (value === null || typeof value !== 'object' || classOf(value) !== 'Error') return undefined;
  const text = textMember(value, 'message');
  try {
    if (value instanceof InternalError && text === 'out of memory') return 'memory';
    if (value instanceof InternalError && text === 'string too long') return 'memory';
    if (value instanceof RangeError && text === 'Invalid string length') return 'memory';
    if (value instanceof RangeError && text === 'Maximum call stack size exceeded') return 'stack';
  } catch {}
  return undefined;
};

// A reply as data.
const finished = reply => {
  if (reply.kind !== 'success' && reply.kind !== 'content') return reply;
  return { __proto__: null, kind: reply.kind, data: walker('results', message.output, false).walk(reply.data, '') ?? null };
};
// What the host is told, one member each: `value`, `nothing`, `reply`, `threw`, `left`, `notJson`, `tooLong`, `limit`, `broken`.
const stopped = error => {
  if (error instanceof NotJson) return { __proto__: null, notJson: error.text };
  if (error === TOO_LONG) return { __proto__: null, tooLong: true };
  return thrown(error);
};
const thrown = given => {
  let value = given;
  try {
    value = built(given);
  } catch {}
  const isObject = typeof value === 'object' && value !== null;
  const reply = isObject ? replies.get(value) : undefined;
  if (reply) {
    try {
      return { __proto__: null, threw: { __proto__: null, reply: finished(reply) } };
    } catch (error) {
      return stopped(error);
    }
  }
  const limit = limitOf(value);
  if (limit) return { __proto__: null, limit };
  const text = wellFormed(describe(value));
  const stack = isObject ? textMember(value, 'stack') : undefined;
  const known = isObject ? causes.get(value) : undefined;
  const ownStack = known === undefined ? undefined : known.stack;
  const told = ownStack || (stack === undefined ? undefined : wellFormed(trimmed(stack)));
  return { __proto__: null, threw: { __proto__: null, message: text, stack: told, cause: known === undefined ? undefined : known.cause } };
};
const converted = () => {
  if (outcome.is === 'threw') return thrown(outcome.value);
  if (outcome.is === 'broken') return { __proto__: null, broken: outcome.value };
  try {
    const value = built(outcome.value);
    if (typeof value === 'object' && value !== null) {
      const reply = replies.get(value);
      if (reply) return { __proto__: null, reply: finished(reply) };
      if (isError(value)) return thrown(value);
    }
    const json = walker('results', message.output, false).walk(value, '');
    return json === undefined ? { __proto__: null, nothing: true } : { __proto__: null, value: json };
  } catch (error) {
    return stopped(error);
  }
};
const leftBehind = (text, stack, cause, reply) => ({ __proto__: null, left: { __proto__: null, message: text, stack, cause, reply } });
// What the script started and does not wait for; undefined once that is settled, true where there is more to do.
const leftOver = isBusy => {
  if (isBusy || ++lateRounds > MAX_LATE_ROUNDS) return leftBehind('a function that nothing awaits was still running when the script returned');
  let lost;
  watched.forEach(promise => {
    lost ??= promise;
  });
  if (lost) {
    const reason = native.reason_of(lost.promise);
    const failure = reason === undefined ? undefined : thrown(reason[0]).threw;
    return leftBehind(`nothing awaits ${lost.name}${failure ? `; it failed: ${failure.message}` : ''}`, lost.stack, failure?.cause);
  }
  let unsent;
  const left = bare([]);
  open.forEach((question, id) => {
    if (question.isTimer) return;
    if (question.turn === turn) unsent ??= question;
    left[left.length] = id;
  });
  if (unsent) return leftBehind(`the script returned before ${unsent.name} was sent: \`await\` it, and whatever waits for it`, unsent.stack);
  for (let i = 0; i < left.length; i++) {
    const question = closeQuestion(left[i]);
    question.failed(`the script returned before ${question.name} was answered: \`await\` it, and whatever waits for it`, 'cancelled');
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
// The end of the call: what it need not have cleared is cleared.
const told = made => {
  quietTimers.forEach((id, question) => clear(id));
  return stringify(made);
};
const callsAre = async (number, name, payload, ctx) => {
  const script = lastScript;
  const ends = (is, value) => {
    if (script === lastScript) end(is, value, false);
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
    if (run === undefined) ends('broken', 'missing');
    else if (typeof run !== 'function') ends('broken', 'no function');
    else {
      const value = await run(payload, ctx);
      ends('returned', value);
    }
  } catch (error) {
    ends('threw', error);
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
  return stringify({ __proto__: null, message: wellFormed(text), stack });
};
const loaded = () => {
  const program = programs.get(loading);
  if (!program || program.promise) return undefined;
  if (program.threw) return failureOf(program.threw.error);
  if (outcome) return failureOf(outcome.value);
  const unhandled = native.unhandled();
  if (unhandled === undefined) return 'loaded';
  return failureOf(isArray(unhandled) ? unhandled[0] : 'more promises were rejected at a time than are kept');
};

return {
  load(meta, value) {
    begin();
    loading = meta.script;
    for (let i = 0; i < meta.parts.length; i++) part(meta.parts[i]);
    if (meta.tells && !isTelling) {
      isTelling = true;
      native.on_clock(() => took('clock'));
    }
    const keep = program => void programs.set(meta.script, setPrototypeOf(program, null));
    try {
      const exports = value(millrace);
      keep(classOf(exports) === 'Promise' ? { promise: exports } : { exports });
    } catch (error) {
      keep({ threw: { error } });
      return;
    }
    const { promise } = programs.get(meta.script);
    if (promise) then(promise, exports => keep({ exports }), error => keep({ threw: { error } }));
  },
  enter(given) {
    // Not for the first script of a call: loading has begun it.
    if (hasOwn(given, 'isNext')) begin();
    turn++;
    timeOrigin = native.clock() - 1;
    message = given;
    const payload = withBigs(given.payload, member(given, 'payloadBigs'));
    const ctx = contextOf(withBigs(given.ctx, member(given, 'ctxBigs')), given.required);
    environment = ctx.env;
    // The same object: in both, a variable that is not set throws.
    if (given.hasEnv) payload.env = ctx.env;
    callsAre(given.script, given.export, payload, ctx);
  },
  settle(id, isAnswer, value, bytes) {
    turn++;
    const question = closeQuestion(id);
    if (question === undefined) return;
    if (isAnswer) question.ok(value, bytes);
    else question.failed(value.message, value.code, value.cause, withBigs(member(value, 'answer'), member(value, 'bigs')));
  },
  poll(isBusy) {
    if (!message) {
      return isBusy ? false : loaded();
    }
    if (!outcome) return isBusy ? false : undefined;
    if (!answer) {
      answer = converted();
      const isAnswer = answer.value !== undefined || answer.nothing || answer.reply;
      const isLast = !isAnswer && !(answer.threw?.reply && answer.threw.reply.kind !== 'inputRequired');
      return isLast || outcome.isFinal ? told(answer) : false;
    }
    const left = leftOver(isBusy);
    return left === true ? false : told(left ?? answer);
  },
};
