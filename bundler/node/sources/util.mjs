import comparisons from 'assert/build/internal/util/comparisons.js';
import extracted from 'node-inspect-extracted';
import legacy from 'util/util.js';

export const { inspect, format, formatWithOptions, stripVTControlCharacters } = extracted;
export const {
  _extend, callbackify, debuglog, deprecate, inherits, isArray, isBoolean, isBuffer, isDate, isError, isFunction, isNull, isNullOrUndefined, isNumber,
  isObject, isPrimitive, isRegExp, isString, isSymbol, isUndefined, log, types,
} = legacy;
// Their last argument is not a function that is called back.
const timed = new Map([
  [globalThis.setTimeout, (ms, value) => new Promise(done => setTimeout(done, ms, value))],
  [globalThis.setImmediate, value => new Promise(done => setImmediate(done, value))],
]);
export const promisify = Object.assign(original => timed.get(original) ?? legacy.promisify(original), { custom: legacy.promisify.custom });
export const debug = debuglog;
export const { isDeepStrictEqual } = comparisons;
export const { TextDecoder, TextEncoder } = globalThis;
export const toUSVString = value => `${value}`.toWellFormed();
export const styleText = (style, text) => {
  const styles = Array.isArray(style) ? style : [style];
  let open = '';
  let close = '';
  for (const name of styles) {
    const codes = inspect.colors[name];
    if (codes === undefined) {
      throw Object.assign(new TypeError(`The argument 'format' must be one of: ${Object.keys(inspect.colors).map(known => `'${known}'`).join(', ')}. Received ${inspect(name)}`), { code: 'ERR_INVALID_ARG_VALUE' });
    }
    open += `\u001b[${codes[0]}m`;
    close = `\u001b[${codes[1]}m${close}`;
  }
  return `${open}${text}${close}`;
};
export const aborted = (signal, resource) =>
  new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
