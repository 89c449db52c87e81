// What JSON would turn into `{}` or null, or drop.
class Secretive {
  #x = 1;
  get x() { return this.#x; }
}
class Plain {
  x = 1;
}

export const values: Record<string, () => unknown> = {
  nan: () => NaN,
  infinite: () => -Infinity,
  date: () => new Date(NaN),
  symbol: () => Symbol("s"),
  function: () => () => 1,
  map: () => new Map([["a", 1]]),
  set: () => new Set([1]),
  weak: () => new WeakMap(),
  iterator: () => [1].values(),
  generator: () => (function* () { yield 1; })(),
  promise: () => ({ later: Promise.resolve(1) }),
  regexp: () => /x/,
  bytes: () => new Uint8Array([1]),
  buffer: () => new ArrayBuffer(1),
  response: () => new Response("x", { status: 401 }),
  headers: () => new Headers({ a: "b" }),
  search: () => new URLSearchParams("a=b"),
  signal: () => new AbortController().signal,
  private: () => new Secretive(),
  "by-proto": () => Object.create({ x: 1 }),
  proxy: () => new Proxy(new Map(), {}),
  json: () => ({ toJSON: () => null }),
  nothing: () => ({ toJSON: () => undefined }),
  hole: () => [1, , 3],
  undefined: () => [undefined],
  error: () => new Error("no"),
  mine: () => new (class Mine extends TypeError {})("no"),
  // These are fine.
  plain: () => new Plain(),
  null: () => null,
  absent: () => ({ x: 1, y: undefined }),
  boxed: () => [Object(1), Object("a"), Object(true), Object(2n)],
};
