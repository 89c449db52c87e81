// A value as a text that tells apart what JSON does not.
export default function show(value, depth = 0, seen = []) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'symbol') return value.toString();
  if (typeof value === 'function') return `function ${value.name}`;
  if (value === null || typeof value !== 'object') return String(value);
  if (seen.includes(value) || depth > 12) return '(again)';
  const inner = part => show(part, depth + 1, [...seen, value]);
  if (value instanceof Error) return `${value.name}${Object.hasOwn(value, 'cause') ? ` because ${inner(value.cause)}` : ''}`;
  if (value instanceof Date) return Number.isNaN(+value) ? 'no date' : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Map) return `Map{${[...value].map(inner)}}`;
  if (value instanceof Set) return `Set{${[...value].map(inner)}}`;
  if (value instanceof ArrayBuffer) return `ArrayBuffer(${new Uint8Array(value)})`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return `${value.constructor.name}[${Array.from(value, inner)}]`;
  const members = Reflect.ownKeys(value).filter(key => !(Array.isArray(value) && (key === 'length' || /^\d+$/.test(String(key)))));
  const named = members.map(key => {
    const { get, set, value: held, enumerable, writable, configurable } = Object.getOwnPropertyDescriptor(value, key);
    const flags = `${enumerable ? '' : '!e'}${writable || get || set ? '' : '!w'}${configurable ? '' : '!c'}`;
    return `${String(key)}${flags}:${get || set ? `${get ? 'get' : ''}${set ? 'set' : ''}` : inner(held)}`;
  });
  if (!Array.isArray(value)) return `{${named}}`;
  const items = [];
  for (let at = 0; at < Math.min(value.length, 500); at++) items.push(at in value ? inner(value[at]) : '(hole)');
  return `[${[...items, ...named]}]`;
}
