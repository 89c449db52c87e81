// Classes of the web platform, written in script over the natives of the prelude. `define(name, value)` makes a global. Node is what they are
// compared with (adapters/script/tests/web.rs).
((native, define) => {
  'use strict';

  // Known to this file alone: opens constructors that scripts must not call, and private members across classes.
  const secret = Object.freeze({});
  const tag = (constructor, name) =>
    Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });
  // As Web IDL has it: a symbol is no text.
  const textOf = value => native.wellFormed(`${value}`);
  const need = (given, count, name) => {
    if (given < count) throw new TypeError(`\`${name}\` takes ${count === 1 ? 'an argument' : `${count} arguments`}`);
  };
  const isObject = value => (typeof value === 'object' && value !== null) || typeof value === 'function';
  // The third argument of `URLSearchParams`, `Headers` and so on: `undefined` and null stand for an empty one.
  const dictionary = (value, name) => {
    if (value === undefined || value === null) return {};
    if (!isObject(value)) throw new TypeError(`the options of \`${name}\` must be an object`);
    return value;
  };

  // errors and events

  const { DOMException } = globalThis;

  let dispatch, own;
  class Event {
    #type;
    #init;
    #target = null;
    #isRunning = false;
    #isPrevented = false;
    #isStopped = false;
    #isEnded = false;
    #isPassive = false;
    #isTrusted = false;
    #time = native.now();
    constructor(type, options = undefined) {
      need(arguments.length, 1, 'Event');
      this.#type = `${type}`;
      const { bubbles, cancelable, composed } = dictionary(options, 'Event');
      this.#init = { bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed };
    }
    get type() {
      return this.#type;
    }
    get target() {
      return this.#target;
    }
    get srcElement() {
      return this.#target;
    }
    get currentTarget() {
      return this.#isRunning ? this.#target : null;
    }
    get eventPhase() {
      return this.#isRunning ? 2 : 0;
    }
    get bubbles() {
      return this.#init.bubbles;
    }
    get cancelable() {
      return this.#init.cancelable;
    }
    get composed() {
      return this.#init.composed;
    }
    get defaultPrevented() {
      return this.#isPrevented;
    }
    get returnValue() {
      return !this.#isPrevented;
    }
    get cancelBubble() {
      return this.#isStopped;
    }
    set cancelBubble(value) {
      if (value) this.#isStopped = true;
    }
    get isTrusted() {
      return this.#isTrusted;
    }
    get timeStamp() {
      return this.#time;
    }
    composedPath() {
      return this.#isRunning ? [this.#target] : [];
    }
    preventDefault() {
      if (this.#init.cancelable && !this.#isPassive) this.#isPrevented = true;
    }
    stopPropagation() {
      this.#isStopped = true;
    }
    stopImmediatePropagation() {
      this.#isStopped = this.#isEnded = true;
    }
    static #dispatch(event, target, listeners) {
      if (event.#isRunning) throw new DOMException('the event is being dispatched', 'InvalidStateError');
      event.#target = target;
      event.#isRunning = true;
      for (let i = 0; i < listeners.length && !event.#isEnded; i++) {
        const held = listeners[i];
        if (held.isGone) continue;
        if (held.once) held.leave();
        event.#isPassive = held.passive;
        native.running(() => {
          const { listener } = held;
          if (typeof listener === 'function') Reflect.apply(listener, target, [event]);
          else if (isObject(listener)) listener.handleEvent(event);
        });
      }
      event.#isPassive = event.#isEnded = event.#isStopped = event.#isRunning = false;
      return !event.#isPrevented;
    }
    static #own(type) {
      const event = new Event(type);
      event.#isTrusted = true;
      return event;
    }
    static {
      dispatch = Event.#dispatch;
      own = Event.#own;
    }
  }

  class CustomEvent extends Event {
    #detail;
    constructor(type, options = undefined) {
      need(arguments.length, 1, 'CustomEvent');
      super(type, options);
      this.#detail = options?.detail ?? null;
    }
    get detail() {
      return this.#detail;
    }
  }

  let trigger, handled;
  class EventTarget {
    #listeners = [];
    addEventListener(type, listener, options = undefined) {
      need(arguments.length, 2, 'addEventListener');
      const { once, capture, passive, signal } = typeof options === 'boolean' ? { capture: options } : dictionary(options, 'addEventListener');
      if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('`signal` must be an `AbortSignal`');
      if (listener === undefined || listener === null) return;
      if (!isObject(listener)) throw new TypeError('a listener is a function, or an object with `handleEvent`');
      if (signal?.aborted) return;
      const held = this.#add(`${type}`, listener, !!capture);
      if (held === undefined) return;
      held.once = !!once;
      held.passive = !!passive;
      if (signal) follow(signal, held.leave);
    }
    removeEventListener(type, listener, options = undefined) {
      need(arguments.length, 2, 'removeEventListener');
      this.#find(`${type}`, listener, typeof options === 'boolean' ? options : !!options?.capture)?.leave();
    }
    dispatchEvent(event) {
      if (!(event instanceof Event)) throw new TypeError('`dispatchEvent` takes an `Event`');
      return dispatch(event, this, this.#of(event.type));
    }
    #find(type, listener, capture) {
      for (let i = 0; i < this.#listeners.length; i++) {
        const held = this.#listeners[i];
        if (held.type === type && held.listener === listener && held.capture === capture) return held;
      }
      return undefined;
    }
    #add(type, listener, capture) {
      if (this.#find(type, listener, capture)) return undefined;
      const held = { type, listener, capture, once: false, passive: false, isGone: false, leave: undefined };
      held.leave = () => {
        held.isGone = true;
        const kept = [];
        for (let i = 0; i < this.#listeners.length; i++) if (this.#listeners[i] !== held) kept[kept.length] = this.#listeners[i];
        this.#listeners = kept;
      };
      this.#listeners[this.#listeners.length] = held;
      return held;
    }
    #of(type) {
      const found = [];
      for (let i = 0; i < this.#listeners.length; i++) if (this.#listeners[i].type === type) found[found.length] = this.#listeners[i];
      return found;
    }
    static {
      trigger = (target, type) => dispatch(own(type), target, target.#of(type));
      // A listener that is an attribute stands where the first one stood.
      handled = (target, type, run) => target.#add(type, run, false);
    }
  }

  let trip, follow, signalOfCall;
  class AbortSignal extends EventTarget {
    #aborted = false;
    // Of a call: the host is asked. It ends the call by itself, so listeners are not needed.
    #look = undefined;
    #reason = undefined;
    #handler = null;
    #held = undefined;
    #followers = [];
    constructor(token) {
      if (token !== secret) throw new TypeError('`AbortSignal` cannot be constructed; use `AbortController`');
      super();
    }
    get aborted() {
      if (this.#look?.()) trip(this, new DOMException('the call was aborted', 'AbortError'));
      return this.#aborted;
    }
    get reason() {
      return this.aborted ? this.#reason : undefined;
    }
    get onabort() {
      return this.#handler;
    }
    set onabort(handler) {
      this.#handler = isObject(handler) ? handler : null;
      if (this.#handler === null) {
        this.#held?.leave();
        this.#held = undefined;
      } else {
        this.#held ??= handled(this, 'abort', event => {
          if (typeof this.#handler === 'function') Reflect.apply(this.#handler, this, [event]);
        });
      }
    }
    throwIfAborted() {
      if (this.aborted) throw this.#reason;
    }
    // What the platform itself does comes before listeners.
    static #trip(signal, reason) {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
      const followers = signal.#followers;
      signal.#followers = [];
      for (let i = 0; i < followers.length; i++) followers[i](signal.#reason);
      trigger(signal, 'abort');
    }
    // Calls `run` when the signal is aborted; what is returned takes that back.
    static #follow(signal, run) {
      signal.#followers[signal.#followers.length] = run;
      return () => {
        const kept = [];
        for (let i = 0; i < signal.#followers.length; i++) if (signal.#followers[i] !== run) kept[kept.length] = signal.#followers[i];
        signal.#followers = kept;
      };
    }
    static {
      trip = AbortSignal.#trip;
      follow = AbortSignal.#follow;
      signalOfCall = look => {
        const signal = new AbortSignal(secret);
        signal.#look = look;
        return signal;
      };
    }
    static abort(reason) {
      const signal = new AbortSignal(secret);
      trip(signal, reason);
      return signal;
    }
    static timeout(ms) {
      need(arguments.length, 1, 'AbortSignal.timeout');
      const delay = Number(ms);
      if (!(delay >= 0 && delay <= Number.MAX_SAFE_INTEGER)) throw new RangeError('`AbortSignal.timeout` takes a number of milliseconds, zero or more');
      const signal = new AbortSignal(secret);
      native.after(() => trip(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), delay);
      return signal;
    }
    static any(signals) {
      const sources = [...signals];
      for (let i = 0; i < sources.length; i++) if (!(sources[i] instanceof AbortSignal)) throw new TypeError('`AbortSignal.any` takes signals');
      return dependent(sources);
    }
  }
  const dependent = sources => {
    const signal = new AbortSignal(secret);
    for (let i = 0; i < sources.length; i++) {
      if (sources[i].aborted) {
        trip(signal, sources[i].reason);
        return signal;
      }
    }
    for (let i = 0; i < sources.length; i++) follow(sources[i], reason => trip(signal, reason));
    return signal;
  };

  class AbortController {
    #signal = new AbortSignal(secret);
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      trip(this.#signal, reason);
    }
  }

  // structuredClone: one object after the other, so that nothing is too deep.

  const errors = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const arrays = { __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array };
  Object.assign(arrays, { Float32Array, Float64Array, BigInt64Array, BigUint64Array });
  if (globalThis.Float16Array) arrays.Float16Array = globalThis.Float16Array;
  const valueIn = { __proto__: null, Number, String, Boolean, BigInt };
  for (const name of Object.keys(valueIn)) valueIn[name] = Function.prototype.call.bind(valueIn[name].prototype.valueOf);
  const timeOf = Function.prototype.call.bind(Date.prototype.getTime);
  const moved = Function.prototype.call.bind(ArrayBuffer.prototype.transfer);
  const isDetached = Function.prototype.call.bind(Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'detached').get);
  const lengthIn = Function.prototype.call.bind(Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length').get);

  const structuredClone = function structuredClone(value, options = undefined) {
    need(arguments.length, 1, 'structuredClone');
    const copies = new Map();
    const open = [];
    const refuse = what => {
      throw new DOMException(`${what} cannot be cloned`, 'DataCloneError');
    };
    const { transfer } = dictionary(options, 'structuredClone');
    const moving = transfer === undefined ? [] : [...transfer];
    for (let i = 0; i < moving.length; i++) {
      if (native.classOf(moving[i]) !== 'ArrayBuffer') refuse('what is no `ArrayBuffer` cannot be transferred; it');
      if (isDetached(moving[i]) || copies.has(moving[i])) refuse('an `ArrayBuffer` that is transferred twice');
      copies.set(moving[i], undefined);
    }
    copies.clear();
    const buffers = [];
    const copyBuffer = original => {
      if (isDetached(original)) refuse('an `ArrayBuffer` that was transferred');
      if (!moving.includes(original)) return original.slice(0);
      // As a copy at first: nothing is moved where something else cannot be cloned.
      const made = original.slice(0);
      buffers[buffers.length] = original;
      return made;
    };
    const copy = original => {
      if (typeof original === 'symbol') refuse('a symbol');
      if (typeof original === 'function') refuse('a function');
      if (typeof original !== 'object' || original === null) return original;
      if (copies.has(original)) return copies.get(original);
      const kind = native.classOf(original);
      let made;
      let members = false;
      if (kind === 'Array') {
        made = new Array(original.length);
        members = true;
      } else if (kind === 'Date') made = new Date(timeOf(original));
      else if (kind === 'RegExp') made = new RegExp(original.source, original.flags);
      else if (kind === 'Map') made = new Map();
      else if (kind === 'Set') made = new Set();
      else if (kind === 'ArrayBuffer') made = copyBuffer(original);
      else if (kind === 'DataView') made = new DataView(copy(original.buffer), original.byteOffset, original.byteLength);
      else if (kind in arrays) made = new arrays[kind](copy(original.buffer), original.byteOffset, lengthIn(original));
      else if (kind === 'Error') {
        const { name } = original;
        const constructor = errors[name] ?? Error;
        const message = Object.getOwnPropertyDescriptor(original, 'message');
        made = message && 'value' in message ? new constructor(`${message.value}`) : new constructor();
        const stack = Object.getOwnPropertyDescriptor(original, 'stack');
        if (typeof stack?.value === 'string') Object.defineProperty(made, 'stack', { value: stack.value, writable: true, configurable: true });
        copies.set(original, made);
        if (Object.hasOwn(original, 'cause')) Object.defineProperty(made, 'cause', { value: copy(original.cause), writable: true, configurable: true });
      } else if (kind in valueIn) made = Object(valueIn[kind](original));
      else if (kind === 'Object') {
        made = {};
        members = true;
      } else refuse(`a \`${kind}\``);
      copies.set(original, made);
      if (members || kind === 'Map' || kind === 'Set') open[open.length] = [original, made, kind];
      return made;
    };
    const result = copy(value);
    while (open.length > 0) {
      const step = open[open.length - 1];
      open.length--;
      const original = step[0];
      const made = step[1];
      if (step[2] === 'Map') for (const [key, held] of [...original]) made.set(copy(key), copy(held));
      else if (step[2] === 'Set') for (const held of [...original]) made.add(copy(held));
      else {
        const names = Object.keys(original);
        for (let i = 0; i < names.length; i++) {
          // What a getter has deleted meanwhile is not there.
          if (!Object.hasOwn(original, names[i])) continue;
          Object.defineProperty(made, names[i], { value: copy(original[names[i]]), writable: true, enumerable: true, configurable: true });
        }
      }
    }
    for (let i = 0; i < moving.length; i++) moved(moving[i]);
    return result;
  };
  define('structuredClone', structuredClone);

  // URLs

  let refill;
  class URLSearchParams {
    #pairs = [];
    #changed = undefined;
    constructor(init = '', changed = undefined) {
      if (changed?.token === secret) this.#changed = changed.call;
      if (isObject(init)) {
        const method = init[Symbol.iterator];
        if (method !== undefined && method !== null) {
          if (typeof method !== 'function') throw new TypeError('`URLSearchParams` takes a list of pairs');
          for (const pair of init) {
            if (!isObject(pair) || typeof pair[Symbol.iterator] !== 'function') throw new TypeError('each element of `URLSearchParams` must be a pair');
            const parts = [...pair];
            if (parts.length !== 2) throw new TypeError('each element of `URLSearchParams` must be a pair');
            this.#add(textOf(parts[0]), textOf(parts[1]));
          }
        } else {
          const names = Reflect.ownKeys(init);
          const known = new Map();
          for (let i = 0; i < names.length; i++) {
            if (!Object.getOwnPropertyDescriptor(init, names[i])?.enumerable) continue;
            const name = textOf(names[i]);
            const value = textOf(init[names[i]]);
            if (known.has(name)) this.#pairs[known.get(name)][1] = value;
            else {
              known.set(name, this.#pairs.length);
              this.#add(name, value);
            }
          }
        }
      } else if (init !== null) {
        const text = textOf(init);
        this.#parse(text.startsWith('?') ? text.slice(1) : text);
      }
    }
    #add(name, value) {
      this.#pairs[this.#pairs.length] = [name, value];
    }
    #parse(text) {
      this.#pairs = [];
      if (text === '') return;
      const flat = native.formParse(text);
      for (let i = 0; i < flat.length; i += 2) this.#add(flat[i], flat[i + 1]);
    }
    #update() {
      if (this.#changed) this.#changed(this.toString());
    }
    #keep(isKept) {
      const kept = [];
      for (let i = 0; i < this.#pairs.length; i++) if (isKept(this.#pairs[i], i)) kept[kept.length] = this.#pairs[i];
      this.#pairs = kept;
    }
    #find(name, value) {
      for (let i = 0; i < this.#pairs.length; i++) {
        const pair = this.#pairs[i];
        if (pair[0] === name && (value === undefined || pair[1] === value)) return i;
      }
      return -1;
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      need(arguments.length, 2, 'append');
      this.#add(textOf(name), textOf(value));
      this.#update();
    }
    delete(name, value = undefined) {
      need(arguments.length, 1, 'delete');
      const key = textOf(name);
      const text = value === undefined ? undefined : textOf(value);
      this.#keep(pair => pair[0] !== key || (text !== undefined && pair[1] !== text));
      this.#update();
    }
    get(name) {
      need(arguments.length, 1, 'get');
      const at = this.#find(textOf(name));
      return at < 0 ? null : this.#pairs[at][1];
    }
    getAll(name) {
      need(arguments.length, 1, 'getAll');
      const key = textOf(name);
      const all = [];
      for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === key) all[all.length] = this.#pairs[i][1];
      return all;
    }
    has(name, value = undefined) {
      need(arguments.length, 1, 'has');
      return this.#find(textOf(name), value === undefined ? undefined : textOf(value)) >= 0;
    }
    set(name, value) {
      need(arguments.length, 2, 'set');
      const key = textOf(name);
      const text = textOf(value);
      const first = this.#find(key);
      if (first < 0) this.#add(key, text);
      else {
        this.#pairs[first][1] = text;
        this.#keep((pair, at) => at <= first || pair[0] !== key);
      }
      this.#update();
    }
    sort() {
      this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#update();
    }
    forEach(callback, self = undefined) {
      if (typeof callback !== 'function') throw new TypeError('`forEach` takes a function');
      for (let i = 0; i < this.#pairs.length; i++) Reflect.apply(callback, self, [this.#pairs[i][1], this.#pairs[i][0], this]);
    }
    // Each step looks at what there is then.
    *#walk(take) {
      for (let i = 0; i < this.#pairs.length; i++) yield take(this.#pairs[i]);
    }
    entries() {
      return this.#walk(pair => [pair[0], pair[1]]);
    }
    keys() {
      return this.#walk(pair => pair[0]);
    }
    values() {
      return this.#walk(pair => pair[1]);
    }
    toString() {
      const texts = [];
      for (let i = 0; i < this.#pairs.length; i++) {
        texts[2 * i] = this.#pairs[i][0];
        texts[2 * i + 1] = this.#pairs[i][1];
      }
      return native.formSerialize(texts);
    }
    static {
      refill = (params, text) => params.#parse(text.startsWith('?') ? text.slice(1) : text);
    }
  }
  const iterable = constructor =>
    Object.defineProperty(constructor.prototype, Symbol.iterator, { value: constructor.prototype.entries, writable: true, configurable: true });
  iterable(URLSearchParams);

  // A URL is never repeated in a message: there may be a key in it.
  const INVALID_URL = 'the text is not a valid URL';

  const invalidUrl = () => Object.assign(new TypeError(INVALID_URL), { code: 'ERR_INVALID_URL' });
  const parsed = (url, base) => native.urlParse(textOf(url), base === undefined ? undefined : textOf(base));

  class URL {
    #parts;
    #params = undefined;
    constructor(url, base = undefined) {
      need(arguments.length, 1, 'URL');
      this.#parts = parsed(url, base);
      if (!this.#parts) throw invalidUrl();
    }
    static canParse(url, base = undefined) {
      need(arguments.length, 1, 'URL.canParse');
      return parsed(url, base) !== null;
    }
    static parse(url, base = undefined) {
      need(arguments.length, 1, 'URL.parse');
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }
    #set(name, value) {
      this.#parts = native.urlSet(this.#parts[0], name, textOf(value)) ?? this.#parts;
    }
    get href() {
      return this.#parts[0];
    }
    set href(value) {
      const parts = parsed(value);
      if (!parts) throw invalidUrl();
      this.#parts = parts;
      if (this.#params) refill(this.#params, this.search);
    }
    get protocol() {
      return this.#parts[1];
    }
    set protocol(value) {
      this.#set('protocol', value);
    }
    get username() {
      return this.#parts[2];
    }
    set username(value) {
      this.#set('username', value);
    }
    get password() {
      return this.#parts[3];
    }
    set password(value) {
      this.#set('password', value);
    }
    get host() {
      return this.#parts[4];
    }
    set host(value) {
      this.#set('host', value);
    }
    get hostname() {
      return this.#parts[5];
    }
    set hostname(value) {
      this.#set('hostname', value);
    }
    get port() {
      return this.#parts[6];
    }
    set port(value) {
      this.#set('port', value);
    }
    get pathname() {
      return this.#parts[7];
    }
    set pathname(value) {
      this.#set('pathname', value);
    }
    get search() {
      return this.#parts[8];
    }
    set search(value) {
      this.#set('search', value);
      if (this.#params) refill(this.#params, this.search);
    }
    get hash() {
      return this.#parts[9];
    }
    set hash(value) {
      this.#set('hash', value);
    }
    get origin() {
      return this.#parts[10];
    }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.search, { token: secret, call: text => this.#set('search', text) });
      return this.#params;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
  }

  // text and bytes

  const view = data => {
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw new TypeError('an `ArrayBuffer` or a view of one is expected');
  };

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(text = '') {
      return native.utf8Encode(`${text}`);
    }
    encodeInto(text, target) {
      if (native.classOf(target) !== 'Uint8Array') throw new TypeError('`encodeInto` takes a `Uint8Array`');
      let read = 0;
      let written = 0;
      const source = textOf(text);
      for (let at = 0; at < source.length; ) {
        const character = String.fromCodePoint(source.codePointAt(at));
        const bytes = native.utf8Encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        at = read += character.length;
        written += bytes.length;
      }
      return { read, written };
    }
  }

  // https://encoding.spec.whatwg.org/#names-and-labels
  const LABELS = {
    __proto__: null,
    'utf-8': 'utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8',
    'utf-16le': 'utf-16le utf-16 ucs-2 csunicode iso-10646-ucs-2 unicode unicodefeff',
    'utf-16be': 'utf-16be unicodefffe',
    'windows-1252':
      'windows-1252 latin1 ascii us-ascii ansi_x3.4-1968 iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 l1 cp1252 cp819 ibm819 csisolatin1 x-cp1252',
  };
  const encodings = { __proto__: null };
  for (const encoding of Object.keys(LABELS)) for (const label of LABELS[encoding].split(' ')) encodings[label] = encoding;
  // What windows-1252 has where latin1 has controls.
  const CONTROLS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
  // The text whose code units are the elements.
  const unitText = units => {
    let text = '';
    for (let at = 0; at < units.length; at += 8192) text += Reflect.apply(String.fromCharCode, undefined, units.subarray(at, at + 8192));
    return text;
  };
  const windows = bytes => unitText(bytes).replace(/[\x80-\x9f]/g, found => CONTROLS[found.charCodeAt(0) - 0x80]);
  const joined = (first, second) => {
    if (first.length === 0) return second;
    const all = new Uint8Array(first.length + second.length);
    all.set(first);
    all.set(second, first.length);
    return all;
  };
  const notOf = encoding => new TypeError(`the bytes are not valid ${encoding.toUpperCase()}`);
  const utf16 = (bytes, isBig, fatal, stream) => {
    let length = bytes.length & ~1;
    const units = new Uint16Array(length / 2);
    for (let i = 0; i < units.length; i++) units[i] = isBig ? (bytes[2 * i] << 8) | bytes[2 * i + 1] : bytes[2 * i] | (bytes[2 * i + 1] << 8);
    const last = units[units.length - 1];
    const isHalf = units.length > 0 && last >= 0xd800 && last <= 0xdbff;
    if (isHalf) length -= 2;
    const text = unitText(isHalf ? units.subarray(0, -1) : units);
    const isWhole = length === bytes.length || stream;
    if (fatal && (!isWhole || !text.isWellFormed())) throw notOf(isBig ? 'utf-16be' : 'utf-16le');
    return { text: text.toWellFormed() + (isWhole ? '' : '\ufffd'), length };
  };
  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #rest = new Uint8Array();
    #isBegun = false;
    constructor(label = 'utf-8', options = undefined) {
      const { fatal, ignoreBOM } = dictionary(options, 'TextDecoder');
      this.#encoding = encodings[`${label}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase()];
      if (this.#encoding === undefined) {
        throw new RangeError(`\`${label}\` is not supported by \`TextDecoder\`; it reads ${Object.keys(LABELS).join(', ')}`);
      }
      this.#fatal = !!fatal;
      this.#ignoreBOM = !!ignoreBOM;
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(data = undefined, options = undefined) {
      const { stream } = dictionary(options, 'decode');
      const given = data === undefined ? new Uint8Array() : view(data);
      if (this.#encoding === 'windows-1252') return windows(given);
      const bytes = joined(this.#rest, given);
      const keepsMark = this.#ignoreBOM || this.#isBegun;
      const isBegun = this.#isBegun;
      this.#rest = new Uint8Array();
      this.#isBegun = false;
      let text, end;
      if (this.#encoding === 'utf-8') {
        end = bytes.length - (stream ? native.utf8Tail(bytes) : 0);
        text = native.utf8Decode(bytes.subarray(0, end), this.#fatal, keepsMark);
      } else {
        const read = utf16(bytes, this.#encoding === 'utf-16be', this.#fatal, stream);
        end = stream ? read.length : bytes.length;
        text = !keepsMark && read.text.charCodeAt(0) === 0xfeff ? read.text.slice(1) : read.text;
      }
      if (stream) {
        this.#rest = bytes.slice(end);
        this.#isBegun = isBegun || end > 0;
      }
      return text;
    }
  }

  // crypto

  const INTEGERS = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array'];
  class Crypto {
    constructor(token) {
      if (token !== secret) throw new TypeError('`Crypto` cannot be constructed; use `crypto`');
    }
    get subtle() {
      return native.part('crypto').subtle;
    }
    randomUUID() {
      const bytes = native.random(16);
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    }
    getRandomValues(array) {
      if (!INTEGERS.includes(native.classOf(array))) {
        throw new DOMException('`getRandomValues` takes an array of integers', 'TypeMismatchError');
      }
      if (array.byteLength > 65536) throw new DOMException('`getRandomValues` gives at most 65536 bytes', 'QuotaExceededError');
      view(array).set(native.random(array.byteLength));
      return array;
    }
  }
  define('crypto', new Crypto(secret));

  // fetch

  // A literal makes a new object each time it is evaluated: a shared one would be handed to a patched `RegExp.prototype.test`.
  const isToken = text => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
  const headerName = name => {
    const text = `${name}`;
    if (!isToken(text)) throw new TypeError(`\`${text}\` is not a header name`);
    return text.toLowerCase();
  };
  const headerValue = value => {
    const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    if (/[\0\n\r]/.test(text)) throw new TypeError('a header value must not contain a line break');
    if (/[^\0-\xff]/.test(text)) throw new TypeError('a header value must not contain characters above U+00FF');
    return text;
  };

  let lock;
  class Headers {
    #pairs = [];
    // Those of a response that was received cannot be changed.
    #isLocked = false;
    // What iteration sees, until something changes.
    #sorted = undefined;
    constructor(init = undefined) {
      if (init === undefined) return;
      if (!isObject(init)) throw new TypeError('`Headers` takes an object or a list of pairs');
      const method = init[Symbol.iterator];
      if (method !== undefined && method !== null) {
        if (typeof method !== 'function') throw new TypeError('`Headers` takes an object or a list of pairs');
        for (const pair of init) {
          if (!isObject(pair) || typeof pair[Symbol.iterator] !== 'function') throw new TypeError('each element of `Headers` must be a pair');
          const parts = [...pair];
          if (parts.length !== 2) throw new TypeError('each element of `Headers` must be a pair');
          this.append(parts[0], parts[1]);
        }
      } else {
        const names = Reflect.ownKeys(init);
        for (let i = 0; i < names.length; i++) {
          if (Object.getOwnPropertyDescriptor(init, names[i])?.enumerable) this.append(names[i], init[names[i]]);
        }
      }
    }
    #values(key) {
      const values = [];
      for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] === key) values[values.length] = this.#pairs[i][1];
      return values;
    }
    #change() {
      if (this.#isLocked) throw new TypeError('the header fields of this response cannot be changed; copy them: `new Headers(response.headers)`');
    }
    #drop(key) {
      const kept = [];
      for (let i = 0; i < this.#pairs.length; i++) if (this.#pairs[i][0] !== key) kept[kept.length] = this.#pairs[i];
      this.#pairs = kept;
      this.#sorted = undefined;
    }
    append(name, value) {
      need(arguments.length, 2, 'append');
      const pair = [headerName(name), headerValue(value)];
      this.#change();
      this.#pairs[this.#pairs.length] = pair;
      this.#sorted = undefined;
    }
    delete(name) {
      need(arguments.length, 1, 'delete');
      const key = headerName(name);
      this.#change();
      this.#drop(key);
    }
    get(name) {
      need(arguments.length, 1, 'get');
      const values = this.#values(headerName(name));
      return values.length > 0 ? values.join(', ') : null;
    }
    getSetCookie() {
      return this.#values('set-cookie');
    }
    has(name) {
      need(arguments.length, 1, 'has');
      return this.#values(headerName(name)).length > 0;
    }
    set(name, value) {
      need(arguments.length, 2, 'set');
      const pair = [headerName(name), headerValue(value)];
      this.#change();
      this.#drop(pair[0]);
      this.#pairs[this.#pairs.length] = pair;
    }
    forEach(callback, self = undefined) {
      if (typeof callback !== 'function') throw new TypeError('`forEach` takes a function');
      for (let i = 0; i < this.#all().length; i++) {
        const pair = this.#all()[i];
        Reflect.apply(callback, self, [pair[1], pair[0], this]);
      }
    }
    #all() {
      if (this.#sorted) return this.#sorted;
      const known = new Set();
      for (let i = 0; i < this.#pairs.length; i++) known.add(this.#pairs[i][0]);
      const all = [];
      for (const name of [...known].sort()) {
        const values = this.#values(name);
        if (name === 'set-cookie') for (let i = 0; i < values.length; i++) all[all.length] = [name, values[i]];
        else all[all.length] = [name, values.join(', ')];
      }
      this.#sorted = all;
      return all;
    }
    *#walk(take) {
      for (let i = 0; i < this.#all().length; i++) yield take(this.#all()[i]);
    }
    entries() {
      return this.#walk(pair => [pair[0], pair[1]]);
    }
    keys() {
      return this.#walk(pair => pair[0]);
    }
    values() {
      return this.#walk(pair => pair[1]);
    }
    static {
      lock = headers => {
        headers.#isLocked = true;
      };
    }
  }
  iterable(Headers);

  // Streams, blobs and forms are parts that most programs do not need: what is asked of a part that is not loaded is false.
  const isOf = (part, name, value) => native.hasPart(part) && value instanceof native.part(part).globals[name];
  const streamOf = bytes => native.part('streams').streamOf(bytes);
  const noBytes = () => new Uint8Array();

  // A body as bytes or as a stream, with the content type that goes with it.
  const bodyOf = body => {
    if (body === undefined || body === null) return { bytes: null, type: null };
    if (typeof body === 'string') return { bytes: native.utf8Encode(body), type: 'text/plain;charset=UTF-8' };
    if (body instanceof URLSearchParams) {
      return { bytes: native.utf8Encode(body.toString()), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
    }
    if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return { bytes: view(body).slice(), type: null };
    if (isOf('files', 'Blob', body)) return { bytes: native.part('files').bytesIn(body), type: body.type === '' ? null : body.type };
    if (isOf('files', 'FormData', body)) return native.part('files').written(body);
    if (isOf('streams', 'ReadableStream', body)) {
      if (body.locked || native.part('streams').isDisturbed(body)) throw new TypeError('a stream that is locked, or was read from, cannot be a body');
      return { bytes: null, type: null, stream: body };
    }
    return { bytes: native.utf8Encode(`${body}`), type: 'text/plain;charset=UTF-8' };
  };

  let share, move, isSpent, isNull, bytesNow, takeBody;
  class Body {
    #bytes;
    // Where the body came as one, or somebody has asked for one: then it is what the body is read from.
    #stream;
    #used = false;
    constructor(token, bytes, stream) {
      if (token !== secret) throw new TypeError('illegal constructor');
      this.#bytes = bytes;
      this.#stream = stream;
    }
    get body() {
      if (this.#bytes === null && !this.#stream) return null;
      if (!this.#stream) {
        this.#stream = streamOf(this.#bytes);
        // Of one that was read before a reader has the stream.
        if (this.#used) this.#stream.getReader().cancel();
      }
      return this.#stream;
    }
    get bodyUsed() {
      return this.#used || (this.#stream !== undefined && native.part('streams').isDisturbed(this.#stream) === true);
    }
    async #take() {
      if (this.bodyUsed || this.#stream?.locked) throw new TypeError('Body is unusable: it was already read, or a reader has it');
      if (this.#stream) {
        this.#used = true;
        return native.part('streams').bytesOf(this.#stream);
      }
      this.#used = this.#bytes !== null;
      return this.#bytes ?? noBytes();
    }
    async bytes() {
      return (await this.#take()).slice();
    }
    async arrayBuffer() {
      return (await this.#take()).slice().buffer;
    }
    async text() {
      return native.utf8Decode(await this.#take(), false, false);
    }
    async json() {
      return JSON.parse(native.utf8Decode(await this.#take(), false, false));
    }
    async blob() {
      const bytes = await this.#take();
      const { Blob } = native.part('files').globals;
      return new Blob([bytes], { type: this.headers.get('content-type') ?? '' });
    }
    async formData() {
      const bytes = await this.#take();
      return native.part('files').read(bytes, this.headers.get('content-type'));
    }
    static {
      isSpent = body => body.bodyUsed || body.#stream?.locked === true;
      isNull = body => body.#bytes === null && !body.#stream;
      takeBody = body => body.#take();
      bytesNow = body => (body.#stream ? undefined : body.#bytes ?? noBytes());
      // The body of another one, which no longer has it.
      move = body => {
        body.#used = !isNull(body);
        return { bytes: body.#stream ? null : body.#bytes, stream: body.#stream };
      };
      // What a copy has: the bytes, or the other branch of the stream.
      share = body => {
        if (isSpent(body)) throw new TypeError('Body is unusable: it was already read, or a reader has it');
        if (!body.#stream) return { bytes: body.#bytes, stream: undefined };
        const branches = body.#stream.tee();
        body.#stream = branches[0];
        return { bytes: null, stream: branches[1] };
      };
    }
  }

  let sourceOf;
  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];
  const FORBIDDEN = ['CONNECT', 'TRACE', 'TRACK'];
  const CHOICES = {
    __proto__: null,
    mode: ['cors', 'no-cors', 'same-origin'],
    credentials: ['same-origin', 'omit', 'include'],
    cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
    redirect: ['follow', 'error', 'manual'],
    referrerPolicy: ['', 'no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin', 'origin-when-cross-origin', 'strict-origin-when-cross-origin', 'unsafe-url'],
  };

  const listed = names => {
    let text = '';
    for (let i = 0; i < names.length; i++) text += (i === 0 ? '' : i === names.length - 1 ? ' or ' : ', ') + `\`${names[i]}\``;
    return text;
  };

  class Request extends Body {
    #method;
    #url;
    #headers;
    #source;
    #signal;
    // What has no meaning on a server is kept as it was given.
    #options;
    constructor(input, options = undefined) {
      need(arguments.length, 1, 'Request');
      const init = dictionary(options, 'Request');
      const source = input instanceof Request ? input : undefined;
      const url = source ? source.#url : new URL(input);
      if (!source && (url.username !== '' || url.password !== '')) throw new TypeError('the URL of a request must not hold a user name or password');
      if (init.window !== undefined && init.window !== null) throw new TypeError('`window` of a request can be null only');
      const method = init.method === undefined ? source?.#method ?? 'GET' : `${init.method}`;
      const upper = METHODS.includes(method.toUpperCase()) ? method.toUpperCase() : method;
      if (!isToken(upper) || FORBIDDEN.includes(upper.toUpperCase())) throw new TypeError(`\`${method}\` is not a method`);
      const chosen = {};
      for (const name of Object.keys(CHOICES)) {
        chosen[name] = init[name] === undefined ? source?.#options[name] ?? CHOICES[name][0] : `${init[name]}`;
        if (!CHOICES[name].includes(chosen[name])) throw new TypeError(`\`${name}\` must be ${listed(CHOICES[name])}`);
      }
      chosen.integrity = init.integrity === undefined ? source?.#options.integrity ?? '' : `${init.integrity}`;
      chosen.keepalive = init.keepalive === undefined ? source?.#options.keepalive ?? false : !!init.keepalive;
      const signal = init.signal === undefined ? source?.#source : init.signal;
      if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) throw new TypeError('`signal` must be an `AbortSignal`');
      const hasOwn = init.body !== undefined && init.body !== null;
      const isEmpty = !hasOwn && (!source || isNull(source));
      if (!isEmpty && (upper === 'GET' || upper === 'HEAD')) throw new TypeError(`a \`${upper}\` request has no body`);
      const own = hasOwn ? bodyOf(init.body) : undefined;
      if (own?.stream && init.duplex === undefined) throw new TypeError('a request whose body is a stream needs `duplex: "half"`');
      if (init.duplex !== undefined && `${init.duplex}` !== 'half') throw new TypeError('`duplex` of a request must be `half`');
      if (!own && source && isSpent(source)) throw new TypeError('Body is unusable: it was already read, or a reader has it');
      const { bytes, stream } = own ?? (source ? move(source) : { bytes: null, stream: undefined });
      super(secret, bytes, stream);
      this.#method = upper;
      this.#url = source ? url : url.href;
      this.#headers = new Headers(init.headers ?? source?.#headers);
      if (own && own.type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', own.type);
      this.#options = chosen;
      this.#source = signal;
    }
    get method() {
      return this.#method;
    }
    get url() {
      return this.#url;
    }
    get headers() {
      return this.#headers;
    }
    get redirect() {
      return this.#options.redirect;
    }
    get mode() {
      return this.#options.mode;
    }
    get credentials() {
      return this.#options.credentials;
    }
    get cache() {
      return this.#options.cache;
    }
    get referrerPolicy() {
      return this.#options.referrerPolicy;
    }
    get integrity() {
      return this.#options.integrity;
    }
    get keepalive() {
      return this.#options.keepalive;
    }
    get destination() {
      return '';
    }
    get referrer() {
      return 'about:client';
    }
    get duplex() {
      return 'half';
    }
    get isReloadNavigation() {
      return false;
    }
    get isHistoryNavigation() {
      return false;
    }
    get signal() {
      return (this.#signal ??= this.#source instanceof AbortSignal ? dependent([this.#source]) : new AbortSignal(secret));
    }
    clone() {
      const { bytes, stream } = share(this);
      const body = stream ?? bytes;
      return new Request(this.#url, { ...this.#options, method: this.#method, headers: this.#headers, signal: this.#source, body, duplex: stream && 'half' });
    }
    static {
      sourceOf = request => request.#source;
    }
  }

  let received;
  const NULL_BODY = [101, 103, 204, 205, 304];

  class Response extends Body {
    #status;
    #statusText = '';
    #headers;
    #url = '';
    #redirected = false;
    #type = 'default';
    constructor(body = null, options = undefined) {
      const init = dictionary(options, 'Response');
      // What was received may have any status.
      const isOwn = init.token === secret;
      const given = isOwn ? init.body : bodyOf(body);
      super(secret, given.bytes, given.stream);
      this.#headers = new Headers(init.headers ?? undefined);
      this.#status = init.status === undefined ? 200 : Number(init.status) & 0xffff;
      if (isOwn) return;
      if (!(this.#status >= 200 && this.#status <= 599)) throw new RangeError(`\`${init.status}\` is not a status`);
      this.#statusText = init.statusText === undefined ? '' : `${init.statusText}`;
      if (!/^[\t \x21-\x7e\x80-\xff]*$/.test(this.#statusText)) throw new TypeError('`statusText` must be one line of text');
      const hasBody = given.bytes !== null || given.stream !== undefined;
      if (hasBody && NULL_BODY.includes(this.#status)) throw new TypeError(`a response with status ${this.#status} has no body`);
      if (given.type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', given.type);
    }
    get status() {
      return this.#status;
    }
    get ok() {
      return this.#status >= 200 && this.#status <= 299;
    }
    get statusText() {
      return this.#statusText;
    }
    get headers() {
      return this.#headers;
    }
    get url() {
      return this.#url;
    }
    get redirected() {
      return this.#redirected;
    }
    get type() {
      return this.#type;
    }
    clone() {
      const copy = new Response(null, { token: secret, body: share(this), status: this.#status, headers: this.#headers });
      copy.#statusText = this.#statusText;
      copy.#url = this.#url;
      copy.#redirected = this.#redirected;
      copy.#type = this.#type;
      return copy;
    }
    static json(data, options = undefined) {
      need(arguments.length, 1, 'Response.json');
      const text = JSON.stringify(data);
      if (text === undefined) throw new TypeError('what `Response.json` takes must be JSON');
      const init = dictionary(options, 'Response.json');
      const headers = new Headers(init.headers ?? undefined);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(text, { status: init.status, statusText: init.statusText, headers });
    }
    static redirect(url, status = 302) {
      need(arguments.length, 1, 'Response.redirect');
      const { href } = new URL(url);
      if (![301, 302, 303, 307, 308].includes(Number(status))) throw new RangeError(`\`${status}\` is not the status of a redirect`);
      const response = new Response(null, { status, headers: { location: href } });
      lock(response.#headers);
      return response;
    }
    static error() {
      const response = new Response(null, { token: secret, body: { bytes: null }, status: 0 });
      response.#type = 'error';
      lock(response.#headers);
      return response;
    }
    static #received(answer, method) {
      const bytes = method === 'HEAD' || NULL_BODY.includes(answer[0]) ? null : answer[2];
      const response = new Response(null, { token: secret, body: { bytes }, status: answer[0] });
      const headers = answer[1];
      for (let i = 0; i < headers.length; i += 2) response.#headers.append(headers[i], headers[i + 1]);
      lock(response.#headers);
      response.#url = answer[3];
      response.#redirected = answer[4];
      response.#type = 'basic';
      return response;
    }
    static {
      received = Response.#received;
    }
  }

  const send = async (input, init) => {
    const request = new Request(input, init);
    const signal = sourceOf(request);
    if (signal?.aborted) throw signal.reason;
    const headers = [];
    request.headers.forEach((value, name) => {
      headers[headers.length] = name;
      headers[headers.length] = value;
    });
    let body = bytesNow(request);
    if (body === undefined) {
      body = await takeBody(request);
      if (signal?.aborted) throw signal.reason;
    }
    const sent = native.fetch(request.method, request.url, headers, body, request.redirect);
    const leave = signal ? follow(signal, sent.takeBack) : undefined;
    try {
      return received(await sent.answer, request.method);
    } finally {
      leave?.();
    }
  };

  define('fetch', function fetch(input, init = undefined) {
    return native.watch(send(input, init));
  });
  const navigator = { hardwareConcurrency: 1, language: 'en-US', languages: Object.freeze(['en-US']), onLine: true, platform: '', userAgent: 'Millrace' };
  Object.defineProperty(navigator, Symbol.toStringTag, { value: 'Navigator', configurable: true });
  define('navigator', Object.freeze(navigator));

  const base = { Event, CustomEvent, EventTarget, AbortSignal, AbortController, URLSearchParams, URL, TextEncoder, TextDecoder, Headers, Request, Response, Crypto };
  for (const [name, constructor] of Object.entries(base)) {
    define(name, constructor);
    tag(constructor, name);
  }

  // What the parts are made with.
  const web = { need, dictionary, isObject, textOf, view, tag, iterable, handled, structuredClone, Event, EventTarget, TextDecoder, URLSearchParams };
  web.streamOf = streamOf;
  return { web, signalOfCall, unitText };
})
