export const { assert, count, countReset, debug, dir, dirxml, error, group, groupCollapsed, groupEnd, info, log, table, time, timeEnd, timeLog, trace, warn } = globalThis.console;
export default globalThis.console;
