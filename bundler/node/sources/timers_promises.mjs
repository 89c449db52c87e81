const abortError = signal => Object.assign(new Error('The operation was aborted', { cause: signal.reason }), { name: 'AbortError', code: 'ABORT_ERR' });
const after = (ms, value, options) =>
  new Promise((resolve, reject) => {
    const signal = options?.signal;
    if (signal?.aborted) return reject(abortError(signal));
    const abort = () => {
      globalThis.clearTimeout(id);
      reject(abortError(signal));
    };
    const id = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve(value);
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
export const setTimeout = (ms, value, options) => after(ms, value, options);
export const setImmediate = (value, options) => after(0, value, options);
export async function* setInterval(ms, value, options) {
  for (;;) yield await after(ms, value, options);
}
export const scheduler = { wait: (ms, options) => after(ms, undefined, options), yield: () => after(0) };
