// The globals that every world has from the start: small ones, written in script over the natives of the engine.
// Everything made here outlives calls, so nothing here keeps state: no variable is written after set-up, and there is no cache.
(native => {
  'use strict';

  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });

  // console

  const show = value => {
    if (typeof value === 'string') return value;
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'function') return `[function ${value.name}]`;
    if (typeof value !== 'object' || value === null) return String(value);
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return '[object that JSON cannot represent]';
    }
  };
  const logger = level => (...values) => native.log(level, values.map(show).join(' '));
  define('console', {
    debug: logger('debug'),
    trace: logger('debug'),
    log: logger('info'),
    info: logger('info'),
    table: logger('info'),
    dir: value => native.log('info', show(value)),
    warn: logger('warn'),
    error: logger('error'),
    assert(condition, ...values) {
      if (!condition) native.log('error', ['assertion failed', ...values.map(show)].join(' '));
    },
  });

  // timers

  const timer = (name, repeat) => ({
    [name](callback, ms = 0, ...values) {
      if (typeof callback !== 'function') throw new TypeError(`\`${name}\` takes a function`);
      return native.setTimer(callback, Number(ms), repeat, values);
    },
  })[name];
  const clear = name => ({
    [name](id) {
      native.clearTimer(Number(id));
    },
  })[name];
  define('setTimeout', timer('setTimeout', false));
  define('setInterval', timer('setInterval', true));
  define('clearTimeout', clear('clearTimeout'));
  define('clearInterval', clear('clearInterval'));
  define('queueMicrotask', function queueMicrotask(callback) {
    if (typeof callback !== 'function') throw new TypeError('`queueMicrotask` takes a function');
    native.microtask(callback);
  });

  Math.random = function random() {
    const bytes = native.random(7);
    let value = bytes[6] & 0x1f;
    for (let i = 5; i >= 0; i--) value = value * 256 + bytes[i];
    return value / 2 ** 53;
  };
  Object.defineProperty(Math, 'random', { enumerable: false });

  // To be frozen, too: a patched built-in function can get hold of what it is handed.
  return [native, define, show, logger, timer, clear];
})
