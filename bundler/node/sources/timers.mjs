import promises from 'node:timers/promises';

export { promises };
export const { clearInterval, clearTimeout, setInterval, setTimeout } = globalThis;
export const setImmediate = globalThis.setImmediate ?? ((work, ...values) => globalThis.setTimeout(work, 0, ...values));
export const clearImmediate = globalThis.clearImmediate ?? (id => globalThis.clearTimeout(id));
