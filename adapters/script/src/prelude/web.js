// Classes of the web platform, written in script over the natives of the prelude. `define(name, value)` makes a global.
((native, define) => {
  'use strict';

  // Known to this file alone: opens constructors that scripts must not call, and private members across classes.
  const secret = Object.freeze({});
  let trip, peek, received;
  const tag = (constructor, name) =>
    Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });

  // errors and events

  const { DOMException } = globalThis;

  class AbortSignal {
    #aborted = false;
    #reason = undefined;
    #listeners = [];
    onabort = null;
    constructor(token) {
      if (token !== secret) throw new TypeError('`AbortSignal` cannot be constructed; use `AbortController`');
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    addEventListener(type, listener, options) {
      if (type !== 'abort' || listener == null) return;
      if (this.#listeners.some(known => known.listener === listener)) return;
      this.#listeners.push({ listener, once: !!options?.once });
    }
    removeEventListener(type, listener) {
      if (type === 'abort') this.#listeners = this.#listeners.filter(known => known.listener !== listener);
    }
    static #trip(signal, reason) {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException('The operation was aborted.', 'AbortError') : reason;
      const event = { type: 'abort', target: signal };
      if (typeof signal.onabort === 'function') signal.onabort(event);
      for (const { listener } of signal.#listeners.splice(0)) {
        if (typeof listener === 'function') listener.call(signal, event);
        else listener.handleEvent(event);
      }
    }
    static {
      trip = AbortSignal.#trip;
    }
    static abort(reason) {
      const signal = new AbortSignal(secret);
      trip(signal, reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal(secret);
      setTimeout(() => trip(signal, new DOMException('The operation timed out.', 'TimeoutError')), ms);
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(secret);
      for (const source of signals) {
        if (source.aborted) trip(signal, source.reason);
        else source.addEventListener('abort', () => trip(signal, source.reason));
      }
      return signal;
    }
  }

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

  define('structuredClone', function structuredClone(value, options = undefined) {
    if (arguments.length === 0) throw new TypeError('`structuredClone` takes a value');
    if (options?.transfer !== undefined && [...options.transfer].length > 0) throw new DOMException('nothing can be transferred here', 'DataCloneError');
    const copies = new Map();
    const open = [];
    const refuse = what => {
      throw new DOMException(`${what} cannot be cloned`, 'DataCloneError');
    };
    const tagOf = object => Object.prototype.toString.call(object);
    const copy = original => {
      if (typeof original === 'symbol') refuse('a symbol');
      if (typeof original === 'function') refuse('a function');
      if (typeof original !== 'object' || original === null) return original;
      if (copies.has(original)) return copies.get(original);
      let made;
      let members = false;
      if (Array.isArray(original)) {
        made = new Array(original.length);
        members = true;
      } else if (original instanceof Date) made = new Date(original.getTime());
      else if (original instanceof RegExp) made = new RegExp(original.source, original.flags);
      else if (original instanceof Map) open.push([original, (made = new Map())]);
      else if (original instanceof Set) open.push([original, (made = new Set())]);
      else if (original instanceof ArrayBuffer) made = original.slice(0);
      else if (original instanceof DataView) made = new DataView(copy(original.buffer), original.byteOffset, original.byteLength);
      else if (ArrayBuffer.isView(original)) {
        const constructor = globalThis[Object.getOwnPropertyDescriptor(typed, Symbol.toStringTag).get.call(original)];
        made = new constructor(copy(original.buffer), original.byteOffset, original.length);
      } else if (original instanceof Error) {
        const known = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].find(kind => kind.name === original.name) ?? Error;
        made = new known(String(original.message));
        if (Object.hasOwn(original, 'cause')) Object.defineProperty(made, 'cause', { value: copy(original.cause), writable: true, configurable: true });
      } else if (original instanceof Number || original instanceof String || original instanceof Boolean || original instanceof BigInt) {
        made = Object(original.valueOf());
      } else if (original instanceof WeakMap || original instanceof WeakSet || original instanceof WeakRef || original instanceof Promise) {
        refuse(tagOf(original));
      } else {
        made = {};
        members = true;
      }
      copies.set(original, made);
      if (members) open.push([original, made]);
      return made;
    };
    const result = copy(value);
    while (open.length > 0) {
      const [original, made] = open.pop();
      if (made instanceof Map) for (const [key, held] of [...original]) made.set(copy(key), copy(held));
      else if (made instanceof Set) for (const held of [...original]) made.add(copy(held));
      else for (const key of Object.keys(original)) Object.defineProperty(made, key, { value: copy(original[key]), writable: true, enumerable: true, configurable: true });
    }
    return result;
  });
  const typed = Object.getPrototypeOf(Uint8Array.prototype);

  // URLs

  class URLSearchParams {
    #pairs = [];
    #changed = undefined;
    constructor(init = '', changed = undefined) {
      if (typeof changed === 'object' && changed?.token === secret) this.#changed = changed.call;
      if (typeof init === 'object' && init !== null) {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const [name, value, ...rest] = pair;
            if (value === undefined || rest.length > 0) throw new TypeError('each element of `URLSearchParams` must be a pair');
            this.#pairs.push([String(name), String(value)]);
          }
        } else {
          for (const name of Object.keys(init)) this.#pairs.push([name, String(init[name])]);
        }
      } else {
        this.#parse(String(init));
      }
    }
    #parse(text) {
      const flat = native.formParse(text.startsWith('?') ? text.slice(1) : text);
      for (let i = 0; i < flat.length; i += 2) this.#pairs.push([flat[i], flat[i + 1]]);
    }
    #update() {
      if (this.#changed) this.#changed(this.toString());
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#update();
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(pair => pair[0] !== String(name) || (value !== undefined && pair[1] !== String(value)));
      this.#update();
    }
    get(name) {
      return this.#pairs.find(pair => pair[0] === String(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(pair => pair[0] === String(name)).map(pair => pair[1]);
    }
    has(name, value) {
      return this.#pairs.some(pair => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
    }
    set(name, value) {
      const first = this.#pairs.findIndex(pair => pair[0] === String(name));
      if (first < 0) this.#pairs.push([String(name), String(value)]);
      else {
        this.#pairs[first][1] = String(value);
        this.#pairs = this.#pairs.filter((pair, index) => index <= first || pair[0] !== String(name));
      }
      this.#update();
    }
    sort() {
      this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#update();
    }
    forEach(callback, self) {
      for (const [name, value] of this.#pairs) callback.call(self, value, name, this);
    }
    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    *keys() {
      for (const [name] of this.#pairs) yield name;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return native.formSerialize(this.#pairs.flat());
    }
  }

  // A URL is never repeated in a message: there may be a key in it.
  const INVALID_URL = 'the text is not a valid URL';

  class URL {
    #parts;
    #params = undefined;
    constructor(url, base) {
      this.#parts = native.urlParse(String(url), base === undefined ? undefined : String(base));
      if (!this.#parts) throw new TypeError(INVALID_URL);
    }
    static canParse(url, base) {
      return native.urlParse(String(url), base === undefined ? undefined : String(base)) !== null;
    }
    static parse(url, base) {
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }
    #set(part, value) {
      this.#parts = native.urlSet(this.#parts[0], part, String(value)) ?? this.#parts;
      if (part !== 'search-only') this.#params = undefined;
    }
    get href() {
      return this.#parts[0];
    }
    set href(value) {
      const parts = native.urlParse(String(value));
      if (!parts) throw new TypeError(INVALID_URL);
      this.#parts = parts;
      this.#params = undefined;
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
      this.#params ??= new URLSearchParams(this.search, { token: secret, call: text => this.#set('search-only', text) });
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
      return native.utf8Encode(String(text));
    }
    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const character of String(text)) {
        const bytes = native.utf8Encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        read += character.length;
        written += bytes.length;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    #fatal;
    #ignoreBOM;
    #rest = new Uint8Array();
    constructor(label = 'utf-8', options = {}) {
      if (!['utf-8', 'utf8', 'unicode-1-1-utf-8'].includes(String(label).trim().toLowerCase())) {
        throw new RangeError(`\`${label}\` is not supported by \`TextDecoder\`; only \`utf-8\` is`);
      }
      this.#fatal = !!options.fatal;
      this.#ignoreBOM = !!options.ignoreBOM;
    }
    get encoding() {
      return 'utf-8';
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(data, options = {}) {
      let bytes = data === undefined ? new Uint8Array() : view(data);
      if (this.#rest.length > 0) {
        const joined = new Uint8Array(this.#rest.length + bytes.length);
        joined.set(this.#rest);
        joined.set(bytes, this.#rest.length);
        bytes = joined;
      }
      const keep = options.stream ? native.utf8Tail(bytes) : 0;
      this.#rest = bytes.slice(bytes.length - keep);
      return native.utf8Decode(bytes.subarray(0, bytes.length - keep), this.#fatal, this.#ignoreBOM);
    }
  }

  // crypto

  const hash = async (algorithm, data) => {
    const name = String(typeof algorithm === 'object' && algorithm !== null ? algorithm.name : algorithm).toUpperCase();
    return native.digest(name, view(data)).buffer;
  };
  define('crypto', {
    randomUUID() {
      const bytes = native.random(16);
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    },
    getRandomValues(array) {
      if (!ArrayBuffer.isView(array) || array instanceof Float32Array || array instanceof Float64Array || array instanceof DataView) {
        throw new TypeError('`getRandomValues` takes an array of integers');
      }
      if (array.byteLength > 65536) throw new DOMException('`getRandomValues` gives at most 65536 bytes', 'QuotaExceededError');
      view(array).set(native.random(array.byteLength));
      return array;
    },
    subtle: { digest: hash },
  });

  // fetch

  // A literal makes a new object each time it is evaluated: a shared one would be handed to a patched `RegExp.prototype.test`.
  const isToken = text => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
  const headerName = name => {
    if (!isToken(String(name))) throw new TypeError(`\`${name}\` is not a header name`);
    return String(name).toLowerCase();
  };
  const headerValue = value => {
    const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    if (/[\0\n\r]/.test(text)) throw new TypeError('a header value must not contain a line break');
    return text;
  };

  class Headers {
    #pairs = [];
    constructor(init) {
      if (init === undefined || init === null) return;
      const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
      for (const [name, value] of pairs) this.append(name, value);
    }
    append(name, value) {
      this.#pairs.push([headerName(name), headerValue(value)]);
    }
    delete(name) {
      const key = headerName(name);
      this.#pairs = this.#pairs.filter(pair => pair[0] !== key);
    }
    get(name) {
      const key = headerName(name);
      const values = this.#pairs.filter(pair => pair[0] === key).map(pair => pair[1]);
      return values.length > 0 ? values.join(', ') : null;
    }
    getSetCookie() {
      return this.#pairs.filter(pair => pair[0] === 'set-cookie').map(pair => pair[1]);
    }
    has(name) {
      const key = headerName(name);
      return this.#pairs.some(pair => pair[0] === key);
    }
    set(name, value) {
      this.delete(name);
      this.append(name, value);
    }
    forEach(callback, self) {
      for (const [name, value] of this) callback.call(self, value, name, this);
    }
    *entries() {
      const names = [...new Set(this.#pairs.map(pair => pair[0]))].sort();
      for (const name of names) {
        if (name === 'set-cookie') for (const value of this.getSetCookie()) yield [name, value];
        else yield [name, this.get(name)];
      }
    }
    *keys() {
      for (const [name] of this.entries()) yield name;
    }
    *values() {
      for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
  }

  // A body as bytes, with the content type that goes with it.
  const bodyOf = body => {
    if (body === undefined || body === null) return { bytes: null, type: null };
    if (typeof body === 'string') return { bytes: native.utf8Encode(body), type: 'text/plain;charset=UTF-8' };
    if (body instanceof URLSearchParams) {
      return { bytes: native.utf8Encode(body.toString()), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
    }
    if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return { bytes: view(body).slice(), type: null };
    return { bytes: native.utf8Encode(String(body)), type: 'text/plain;charset=UTF-8' };
  };

  class Body {
    #bytes;
    #used = false;
    constructor(token, bytes) {
      if (token !== secret) throw new TypeError('illegal constructor');
      this.#bytes = bytes;
    }
    get bodyUsed() {
      return this.#used;
    }
    #take() {
      if (this.#used) throw new TypeError('the body was already read');
      this.#used = this.#bytes !== null;
      return this.#bytes ?? new Uint8Array();
    }
    async bytes() {
      return this.#take().slice();
    }
    async arrayBuffer() {
      return this.#take().slice().buffer;
    }
    async text() {
      return native.utf8Decode(this.#take(), false, false);
    }
    async json() {
      return JSON.parse(native.utf8Decode(this.#take(), false, false));
    }
    static #peek(body) {
      if (body.#used) throw new TypeError('the body was already read');
      return body.#bytes;
    }
    static {
      peek = Body.#peek;
    }
  }

  class Request extends Body {
    #method;
    #url;
    #headers;
    #redirect;
    #signal;
    constructor(input, init = {}) {
      const source = input instanceof Request ? input : undefined;
      const method = String(init.method ?? source?.method ?? 'GET');
      const given = init.body === undefined ? { bytes: source ? peek(source) : null, type: null } : bodyOf(init.body);
      const upper = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'].includes(method.toUpperCase()) ? method.toUpperCase() : method;
      if (!isToken(upper)) throw new TypeError(`\`${method}\` is not a method`);
      if (given.bytes !== null && (upper === 'GET' || upper === 'HEAD')) throw new TypeError(`a \`${upper}\` request has no body`);
      super(secret, given.bytes);
      this.#method = upper;
      this.#url = source ? source.url : new URL(input).href;
      this.#headers = new Headers(init.headers ?? source?.headers);
      if (given.type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', given.type);
      this.#redirect = String(init.redirect === undefined ? source?.redirect ?? 'follow' : init.redirect);
      if (!['follow', 'error', 'manual'].includes(this.#redirect)) {
        throw new TypeError('`redirect` must be `follow`, `error` or `manual`');
      }
      this.#signal = init.signal ?? source?.signal ?? null;
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
      return this.#redirect;
    }
    get signal() {
      return this.#signal;
    }
    clone() {
      return new Request(this);
    }
  }

  class Response extends Body {
    #status;
    #statusText;
    #headers;
    #url = '';
    #redirected = false;
    constructor(body = null, init = {}) {
      const given = bodyOf(body);
      super(secret, given.bytes);
      this.#status = init.status === undefined ? 200 : Number(init.status);
      if (!(this.#status >= 100 && this.#status <= 999)) throw new RangeError(`\`${init.status}\` is not a status`);
      this.#statusText = String(init.statusText ?? '');
      this.#headers = new Headers(init.headers);
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
      return 'default';
    }
    clone() {
      const copy = new Response(peek(this), { status: this.#status, statusText: this.#statusText, headers: this.#headers });
      copy.#url = this.#url;
      copy.#redirected = this.#redirected;
      return copy;
    }
    static json(data, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(JSON.stringify(data), { ...init, headers });
    }
    static error() {
      throw new TypeError('`Response.error` is not supported');
    }
    static #received([status, headers, body, url, redirected]) {
      const response = new Response(body, { status });
      for (let i = 0; i < headers.length; i += 2) response.#headers.append(headers[i], headers[i + 1]);
      response.#url = url;
      response.#redirected = redirected;
      return response;
    }
    static {
      received = Response.#received;
    }
  }

  const send = async (input, init) => {
    const request = new Request(input, init);
    const { signal } = request;
    if (signal?.aborted) throw signal.reason;
    const answer = native.fetch(request.method, request.url, [...request.headers].flat(), peek(request) ?? new Uint8Array(), request.redirect);
    if (typeof signal?.addEventListener !== 'function') return received(await answer);
    const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return received(await Promise.race([answer, aborted]));
  };

  define('fetch', function fetch(input, init = undefined) {
    return native.watch(send(input, init));
  });
  const classes = { AbortSignal, AbortController, URLSearchParams, URL, TextEncoder, TextDecoder, Headers, Request, Response };
  for (const [name, constructor] of Object.entries(classes)) {
    define(name, constructor);
    tag(constructor, name);
  }

})
