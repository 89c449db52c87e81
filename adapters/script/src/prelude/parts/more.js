// Channels of messages, and marks of time. Part of an image where a program names them.
((native, web) => {
  'use strict';

  const { need, dictionary, isObject, tag, Event, EventTarget, structuredClone, handled } = web;
  const { DOMException } = globalThis;
  const secret = Object.freeze({});

  // messages

  class MessageEvent extends Event {
    #init;
    constructor(type, options = undefined) {
      need(arguments.length, 1, 'MessageEvent');
      super(type, options);
      const { data = null, origin = '', lastEventId = '', source = null, ports = [] } = dictionary(options, 'MessageEvent');
      this.#init = { data, origin: `${origin}`, lastEventId: `${lastEventId}`, source, ports: Object.freeze([...ports]) };
    }
    get data() {
      return this.#init.data;
    }
    get origin() {
      return this.#init.origin;
    }
    get lastEventId() {
      return this.#init.lastEventId;
    }
    get source() {
      return this.#init.source;
    }
    get ports() {
      return this.#init.ports;
    }
  }

  let entangle;
  class MessagePort extends EventTarget {
    #other;
    #waiting = [];
    #isStarted = false;
    #isClosed = false;
    #handlers = {};
    constructor(token) {
      if (token !== secret) throw new TypeError('`MessagePort` cannot be constructed; use `MessageChannel`');
      super();
    }
    postMessage(message, options = undefined) {
      need(arguments.length, 1, 'postMessage');
      const transfer = isObject(options) && typeof options[Symbol.iterator] === 'function' ? [...options] : dictionary(options, 'postMessage').transfer;
      const data = structuredClone(message, { transfer });
      const other = this.#other;
      if (this.#isClosed || other.#isClosed) return;
      other.#waiting[other.#waiting.length] = data;
      if (other.#isStarted) other.#deliverLater();
    }
    // Each message is a turn of its own: what is ready comes first.
    #deliverLater() {
      native.after(() => {
        if (this.#isClosed || this.#waiting.length === 0) return;
        const data = this.#waiting.shift();
        this.dispatchEvent(new MessageEvent('message', { data }));
      }, 0);
    }
    start() {
      if (this.#isStarted) return;
      this.#isStarted = true;
      for (let i = 0; i < this.#waiting.length; i++) this.#deliverLater();
    }
    close() {
      this.#isClosed = this.#other.#isClosed = true;
    }
    ref() {}
    unref() {}
    #handler(type) {
      return this.#handlers[type]?.run ?? null;
    }
    #setHandler(type, run) {
      const held = (this.#handlers[type] ??= { run: null, listener: undefined });
      held.run = isObject(run) ? run : null;
      held.listener ??= handled(this, type, event => {
        if (typeof held.run === 'function') Reflect.apply(held.run, this, [event]);
      });
      if (type === 'message') this.start();
    }
    get onmessage() {
      return this.#handler('message');
    }
    set onmessage(run) {
      this.#setHandler('message', run);
    }
    get onmessageerror() {
      return this.#handler('messageerror');
    }
    set onmessageerror(run) {
      this.#setHandler('messageerror', run);
    }
    static {
      entangle = (one, other) => {
        one.#other = other;
        other.#other = one;
      };
    }
  }

  class MessageChannel {
    #port1 = new MessagePort(secret);
    #port2 = new MessagePort(secret);
    constructor() {
      entangle(this.#port1, this.#port2);
    }
    get port1() {
      return this.#port1;
    }
    get port2() {
      return this.#port2;
    }
  }

  // time

  const { performance } = native;
  class PerformanceEntry {
    #name;
    #type;
    #start;
    #duration;
    #detail;
    constructor(token, name, type, start, duration, detail) {
      if (token !== secret) throw new TypeError('`PerformanceEntry` cannot be constructed; use `performance.mark` or `performance.measure`');
      this.#name = name;
      this.#type = type;
      this.#start = start;
      this.#duration = duration;
      this.#detail = detail;
    }
    get name() {
      return this.#name;
    }
    get entryType() {
      return this.#type;
    }
    get startTime() {
      return this.#start;
    }
    get duration() {
      return this.#duration;
    }
    get detail() {
      return this.#detail;
    }
    toJSON() {
      return { name: this.#name, entryType: this.#type, startTime: this.#start, duration: this.#duration, detail: this.#detail };
    }
  }
  const detailOf = detail => (detail === undefined || detail === null ? null : structuredClone(detail));
  class PerformanceMark extends PerformanceEntry {
    constructor(name, options = undefined) {
      need(arguments.length, 1, 'PerformanceMark');
      const { startTime, detail } = dictionary(options, 'PerformanceMark');
      const start = startTime === undefined ? performance.now() : Number(startTime);
      if (!(start >= 0)) throw new TypeError('`startTime` must be a number of milliseconds, zero or more');
      super(secret, `${name}`, 'mark', start, 0, detailOf(detail));
    }
  }
  class PerformanceMeasure extends PerformanceEntry {}
  const MAX_ENTRIES = 10000;
  let entries = [];
  const kept = entry => {
    if (entries.length >= MAX_ENTRIES) throw new RangeError(`\`performance\` keeps at most ${MAX_ENTRIES} marks and measures`);
    entries[entries.length] = entry;
    return entry;
  };
  const sorted = list => list.sort((a, b) => a.startTime - b.startTime);
  const drop = (type, name) => {
    entries = entries.filter(entry => entry.entryType !== type || (name !== undefined && entry.name !== `${name}`));
  };
  const marked = (place, other) => {
    if (place === undefined) return other();
    if (typeof place === 'number') return place;
    const mark = entries.findLast(entry => entry.entryType === 'mark' && entry.name === `${place}`);
    if (mark === undefined) throw new DOMException(`\`performance\` has no mark \`${place}\``, 'SyntaxError');
    return mark.startTime;
  };
  const timing = {
    mark: (name, options = undefined) => kept(new PerformanceMark(name, options)),
    measure(name, from = undefined, to = undefined) {
      need(arguments.length, 1, 'measure');
      const { start, end, duration, detail } = isObject(from) ? from : { start: from, end: to };
      const last = end === undefined && start !== undefined && duration !== undefined ? marked(start) + Number(duration) : marked(end, () => performance.now());
      const first = start === undefined && duration !== undefined ? last - Number(duration) : marked(start, () => 0);
      return kept(new PerformanceMeasure(secret, `${name}`, 'measure', first, last - first, detailOf(detail)));
    },
    clearMarks: (name = undefined) => drop('mark', name),
    clearMeasures: (name = undefined) => drop('measure', name),
    getEntries: () => sorted([...entries]),
    getEntriesByType: type => sorted(entries.filter(entry => entry.entryType === `${type}`)),
    getEntriesByName: (name, type = undefined) =>
      sorted(entries.filter(entry => entry.name === `${name}` && (type === undefined || entry.entryType === `${type}`))),
  };

  const globals = { MessageChannel, MessageEvent, MessagePort, PerformanceEntry, PerformanceMark, PerformanceMeasure };
  for (const name of Object.keys(globals)) tag(globals[name], name);
  return { globals, timing };
})
