import EventEmitter from 'events/events.js';

export { EventEmitter };
export const { once } = EventEmitter;
export const captureRejectionSymbol = Symbol.for('nodejs.rejection');
export const errorMonitor = Symbol('events.errorMonitor');
export const captureRejections = false;
export const usingDomains = false;
export const defaultMaxListeners = EventEmitter.defaultMaxListeners;

// An `error` is told to the monitor first, whether or not anybody else listens.
const { emit } = EventEmitter.prototype;
EventEmitter.prototype.emit = function (type, ...values) {
  if (type === 'error' && this._events?.[errorMonitor] !== undefined) emit.call(this, errorMonitor, ...values);
  return emit.call(this, type, ...values);
};
// As Node: those of one event, or all of them, in the order of their names.
EventEmitter.prototype.eventNames = function () {
  return this._eventsCount > 0 ? Reflect.ownKeys(this._events) : [];
};
export const listenerCount = (emitter, type) => emitter.listenerCount(type);
export const getEventListeners = (emitter, type) => emitter.listeners(type);
export const getMaxListeners = emitter => emitter.getMaxListeners();
export const setMaxListeners = (count = EventEmitter.defaultMaxListeners, ...targets) => {
  if (targets.length === 0) EventEmitter.defaultMaxListeners = count;
  for (const target of targets) target.setMaxListeners?.(count);
};
export const addAbortListener = (signal, listener) => {
  if (signal.aborted) queueMicrotask(() => listener());
  else signal.addEventListener('abort', listener, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', listener) };
};
// The events as an endless list of what was emitted with each.
export const on = (emitter, type, options = {}) => {
  const { signal, close = [] } = options;
  const ready = [];
  const waiting = [];
  let failure;
  let isDone = false;
  const listener = (...values) => {
    if (waiting.length > 0) waiting.shift().resolve({ value: values, done: false });
    else ready.push(values);
  };
  const fail = error => {
    if (waiting.length > 0) waiting.shift().reject(error);
    else failure = { error };
    finish();
  };
  const abort = () => fail(Object.assign(new Error('The operation was aborted', { cause: signal.reason }), { name: 'AbortError', code: 'ABORT_ERR' }));
  const finish = () => {
    if (isDone) return { value: undefined, done: true };
    isDone = true;
    emitter.removeListener(type, listener);
    if (type !== 'error') emitter.removeListener('error', fail);
    for (const name of close) emitter.removeListener(name, finish);
    signal?.removeEventListener('abort', abort);
    for (const { resolve } of waiting.splice(0)) resolve({ value: undefined, done: true });
    return { value: undefined, done: true };
  };
  emitter.on(type, listener);
  if (type !== 'error') emitter.on('error', fail);
  for (const name of close) emitter.on(name, finish);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort);
  return {
    async next() {
      if (ready.length > 0) return { value: ready.shift(), done: false };
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        throw error;
      }
      if (isDone) return { value: undefined, done: true };
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: async () => finish(),
    throw: async error => fail(error),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};
Object.assign(EventEmitter, {
  EventEmitter, addAbortListener, captureRejectionSymbol, captureRejections, errorMonitor, getEventListeners, getMaxListeners, listenerCount, on, setMaxListeners, usingDomains,
});
export default EventEmitter;
