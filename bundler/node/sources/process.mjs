// What packages look for. There is no machine to tell of: `platform` and `version` are what makes most packages take their general way.
const none = () => process;
const refused = name =>
  ({
    [name]() {
      throw new Error(`\`process.${name}\` is not available in scripts`);
    },
  })[name];
const nanoseconds = () => BigInt(Math.round(performance.now() * 1e6));
export const hrtime = Object.assign(
  before => {
    const now = nanoseconds();
    const [seconds, rest] = [Number(now / 1000000000n), Number(now % 1000000000n)];
    if (before === undefined) return [seconds, rest];
    const [wholly, partly] = [seconds - before[0], rest - before[1]];
    return partly < 0 ? [wholly - 1, partly + 1e9] : [wholly, partly];
  },
  { bigint: nanoseconds },
);
const written = level => ({ isTTY: false, fd: level === 'log' ? 1 : 2, write: text => (console[level](`${text}`.replace(/\n$/, '')), true) });
// A variable that the app does not list is not there, whoever asks. The linker writes the names of the others here.
const names = '$MILLRACE_ENV$7f3a91c2d4'.split(' ').filter(name => name !== '');
const deleted = new Set();
const listed = name => {
  if (!names.includes(name) || deleted.has(name)) return undefined;
  const values = globalThis[Symbol.for('millrace.env')];
  if (values === null) throw new Error(`\`process.env.${name}\` has no value while modules are loaded: read it in the function that needs it`);
  return values === undefined ? undefined : Object.getOwnPropertyDescriptor(values, name)?.value;
};
export const env = new Proxy(
  names.includes('NODE_ENV') ? {} : { NODE_ENV: 'production' },
  {
    get: (own, name) => (Object.hasOwn(own, name) ? own[name] : (listed(name) ?? Object.prototype[name])),
    has: (own, name) => Object.hasOwn(own, name) || listed(name) !== undefined,
    set: (own, name, value) => Reflect.defineProperty(own, name, { value: String(value), writable: true, enumerable: true, configurable: true }),
    deleteProperty: (own, name) => (deleted.add(name), Reflect.deleteProperty(own, name)),
    ownKeys: own => [...new Set([...names.filter(name => listed(name) !== undefined), ...Reflect.ownKeys(own)])],
    getOwnPropertyDescriptor(own, name) {
      const value = Object.hasOwn(own, name) ? own[name] : listed(name);
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
  },
);
export const nextTick = (work, ...values) => queueMicrotask(() => work(...values));
export const argv = [];
export const argv0 = '';
export const execArgv = [];
export const execPath = '';
export const title = 'millrace';
export const platform = 'linux';
export const arch = 'wasm32';
export const version = '';
export const versions = {};
export const release = {};
export const config = {};
export const features = {};
export const exitCode = undefined;
export const pid = 1;
export const ppid = 0;
export const browser = true;
export const stdout = written('log');
export const stderr = written('error');
export const cwd = () => '/';
export const umask = () => 0o22;
export const uptime = () => performance.now() / 1000;
export const emitWarning = warning => console.warn(typeof warning === 'string' ? warning : `${warning.name}: ${warning.message}`);
export const [abort, binding, chdir, dlopen, exit, kill, memoryUsage, cpuUsage] = ['abort', 'binding', 'chdir', 'dlopen', 'exit', 'kill', 'memoryUsage', 'cpuUsage'].map(refused);
// Scripts end with their call, and nobody is told before.
export const [on, once, off, addListener, removeListener, removeAllListeners, prependListener, setMaxListeners] = Array(8).fill(none);
export const emit = () => false;
export const listeners = () => [];
export const listenerCount = () => 0;
const process = {
  abort, addListener, arch, argv, argv0, binding, browser, chdir, config, cpuUsage, cwd, dlopen, emit, emitWarning, env, execArgv, execPath, exit, exitCode,
  features, hrtime, kill, listenerCount, listeners, memoryUsage, nextTick, off, on, once, pid, platform, ppid, prependListener, release,
  removeAllListeners, removeListener, setMaxListeners, stderr, stdout, title, umask, uptime, version, versions, [Symbol.toStringTag]: 'process',
};
export default process;
