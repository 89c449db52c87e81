// # rest-keeps-out-nested
const { a: { b }, ...rest } = { a: { b: 1, secret: 2 }, c: 3 };
return [b, rest];
// # rest-in-parameters
const f = ({ user: { name }, ...others }, [first, ...more], ...all) => [name, others, first, more, all];
return f({ user: { name: 'n', password: 'p' }, role: 'r' }, [1, 2, 3], 4, 5);
// # rest-computed
let k = 'x';
const take = ({ [k + 'y']: one, [`${k}z`]: two = 'd', ...rest }) => [one, two, rest];
return [take({ xy: 1, xz: 2, q: 3 }), take({ q: 1 })];
// # rest-assignment-to-members
const o = {}, list = [];
({ a: o.first, b: list[2], ...o.rest } = { a: 1, b: 2, c: 3, d: 4 });
return [o, list];
// # rest-leaves-symbols-and-hidden
const s = Symbol('s'), source = Object.defineProperty({ a: 1, [s]: 2 }, 'hidden', { value: 3 });
const { a, ...rest } = source;
return [rest, rest[s], 'hidden' in rest];
// # rest-of-getters-and-order
const seen = [];
const source = { get b() { seen.push('b'); return 1 }, get a() { seen.push('a'); return 2 }, 1: 'n', get c() { seen.push('c'); return 3 } };
const { a, ...rest } = source;
return [seen, a, rest, Object.getOwnPropertyDescriptor(rest, 'b')];
// # rest-default-object
const f = ({ a = 1, ...rest } = { a: 2, b: 3 }) => [a, rest];
return [f(), f({}), f({ b: 1 })];
// # rest-of-primitives
const { length, ...rest } = 'abc';
const { ...none } = 5;
return [length, rest, none];
// # rest-numeric-key
const { 1: one, ['2']: two, ...rest } = { 1: 'a', 2: 'b', 3: 'c' };
return [one, two, rest];
// # rest-in-for-of
const out = [];
for (const { id, tags: [tag, ...tags], ...rest } of [{ id: 1, tags: ['a', 'b'], x: 1 }, { id: 2, tags: [], y: 2 }]) out.push([id, tag, tags, rest]);
return out;
// # spread-order-and-overwriting
return [{ a: 1, ...{ a: 2, b: 3 }, b: 4 }, { ...null, ...undefined, ...'hi', ...[7], ...5 }];
// # spread-does-not-call-setters
let called = 0;
const target = { __proto__: { set x(v) { called++ } }, ...{ x: 1 } };
return [called, Object.hasOwn(target, 'x')];
// # getter-redefines-itself
const make = () => ({ get lazy() { const value = { n: 1 }; Object.defineProperty(this, 'lazy', { value }); return value } });
const read = o => o.lazy.n, out = [];
for (let i = 0; i < 3; i++) { const o = make(); out.push(read(o), read(o)) }
return out;
// # setter-redefines-itself
const o = { set x(v) { Object.defineProperty(this, 'x', { value: v * 2, writable: true }) } };
const write = v => { o.x = v };
write(1); const first = o.x; write(5);
return [first, o.x];
// # getter-on-prototype-redefines
class P { get v() { Object.defineProperty(P.prototype, 'v', { value: 'second', configurable: true }); return 'first' } }
const read = p => p.v, p = new P();
return [read(p), read(p), read(new P())];
// # one-read-many-shapes
const read = o => o.x, out = [];
const shapes = [{ x: 1 }, { y: 0, x: 2 }, Object.create({ x: 3 }), { get x() { return 4 } }, class { static x = 5 }, Object.assign(() => {}, { x: 6 }), new Proxy({ x: 7 }, {}), {}, [1], 'text', 5];
for (let round = 0; round < 3; round++) for (const shape of shapes) out.push(read(shape));
return out;
// # data-becomes-accessor
const p = { y: 1 }, read = () => p.y;
const out = [read(), read()];
Object.defineProperty(p, 'y', { get: () => 5, configurable: true });
out.push(read()); Object.defineProperty(p, 'y', { value: 6 }); out.push(read());
return out;
// # property-moves-to-prototype
const proto = {}, o = Object.create(proto), read = () => o.v;
const out = [read()];
proto.v = 1; out.push(read()); o.v = 2; out.push(read()); delete o.v; out.push(read()); delete proto.v; out.push(read());
return out;
// # prototype-is-swapped
const o = Object.create({ v: 1 }), read = () => o.v, out = [read(), read()];
Object.setPrototypeOf(o, { get v() { return this === o } }); out.push(read());
Object.setPrototypeOf(o, null); out.push(read(), Object.keys(o));
return out;
// # method-replaced-while-called
const o = { m() { o.m = () => 'second'; return 'first' } }, call = () => o.m();
return [call(), call(), call()];
// # delete-and-add-again
const o = {}, out = [];
for (let i = 0; i < 5; i++) { o['k' + i] = i; if (i % 2) delete o['k' + (i - 1)] }
o.k0 = 'again';
return [o, Object.keys(o)];
// # many-keys-are-deleted
const o = {};
for (let i = 0; i < 20000; i++) o['k' + i] = i;
for (let i = 0; i < 20000; i++) if (i % 1000) delete o['k' + i];
return Object.entries(o);
// # integer-keys-come-first
return Object.keys({ b: 1, 2: 1, a: 1, 1: 1, '01': 1, [-1]: 1, 4294967294: 1, 4294967295: 1 });
// # array-length-truncates
const a = [1, 2, 3, 4];
Object.defineProperty(a, 1, { configurable: false });
let error; try { a.length = 0 } catch (e) { error = e.name }
return [a, a.length, error];
// # frozen-rejects-in-strict-code
const out = [], o = Object.freeze({ a: [1] });
for (const f of [() => { o.a = 2 }, () => { o.b = 2 }, () => { delete o.a }, () => { o.a.push(2) }, () => Object.defineProperty(o, 'a', { value: 3 })]) try { f(); out.push('done') } catch (e) { out.push(e.name) }
return [out, o];
// # accessors-inherit-this
class A { #v = 1; get v() { return this.#v } }
const b = Object.create(new A());
try { return b.v } catch (e) { return e.name }
// # optional-chaining
const o = { a: { f() { return this === o.a } }, n: null, arr: [1] };
let count = 0; const side = () => (count++, 'k');
return [o?.a?.f(), o.n?.[side()], o.x?.y.z.w, o.a.f?.(), o.zz?.(side()), o.arr?.[0], delete o?.a?.g, count, (o?.n)?.x];
// # nullish-assignment
const seen = [], o = { get a() { seen.push('get'); return null }, set a(v) { seen.push('set', v) }, get b() { return 1 }, set b(v) { seen.push('never') } };
o.a ??= 5; o.b ??= 6; o.b ||= 7; o.a &&= 8;
return seen;
// # proxy-sees-each-operation
const log = [], p = new Proxy({ a: 1 }, new Proxy({}, { get: (_, trap) => (...args) => { log.push(trap); return Reflect[trap](...args) } }));
p.a; p.b = 2; 'a' in p; delete p.a; Object.keys(p); ({ ...p }); for (const k in p) k; Object.getPrototypeOf(p); Object.defineProperty(p, 'c', { value: 1, configurable: true }); Object.isExtensible(p); JSON.stringify(p); Object.hasOwn(p, 'b'); const { b, ...rest } = p;
return [log, rest];
// # proxy-invariants
const fixed = Object.freeze({ a: 1 }), out = [];
for (const [handler, use] of [[{ get: () => 2 }, p => p.a], [{ has: () => false }, p => 'a' in p], [{ ownKeys: () => [] }, p => Object.keys(p)], [{ getPrototypeOf: () => null }, p => Object.getPrototypeOf(p)], [{ deleteProperty: () => true }, p => delete p.a], [{ isExtensible: () => true }, p => Object.isExtensible(p)]]) try { out.push(use(new Proxy(fixed, handler))) } catch (e) { out.push(e.name) }
return out;
// # proxy-revoked
const { proxy, revoke } = Proxy.revocable(function () {}, {});
revoke();
const out = [typeof proxy];
for (const f of [() => proxy(), () => new proxy(), () => proxy.x, () => Array.isArray(proxy), () => ({ ...proxy })]) try { out.push(f()) } catch (e) { out.push(e.name) }
return out;
// # reflect
return [Reflect.ownKeys({ b: 1, [Symbol.iterator]: 1, 1: 1 }), Reflect.apply(Math.max, null, [1, 3]), Reflect.has([], 'length'), Reflect.set(Object.freeze({}), 'a', 1), Reflect.defineProperty({}, 'a', {}), Reflect.construct(Date, [0], Array) instanceof Array];
// # symbols
const s = Symbol('d'), o = { [s]: 1, [Symbol.toPrimitive]: hint => hint };
return [s.description, Symbol.for('a') === Symbol.for('a'), Symbol.keyFor(Symbol.for('a')), `${o}`, +o, o + '', Object.getOwnPropertySymbols(o).length, Symbol.iterator.toString(), Object(s) == s];
// # own-species
class L extends Array { static get [Symbol.species]() { return Array } }
const l = new L(1, 2, 3);
return [l.map(x => x) instanceof L, l.length, l.concat([4]).constructor.name, L.from([1]) instanceof L, L.of(7).length];
// # error-subclasses
class Own extends RangeError { constructor(m, extra) { super(m, { cause: extra }); this.name = 'Own'; this.extra = extra } }
const e = new Own('m', { x: 1 });
return [e instanceof RangeError, e instanceof Error, String(e), e.cause, Object.keys(e), Object.prototype.toString.call(e), new AggregateError([1, 2], 'm').errors, typeof e.stack];
// # error-capture
const o = {}; Error.captureStackTrace?.(o);
function Legacy(m) { this.message = m; Error.captureStackTrace?.(this, Legacy) }
Legacy.prototype = Object.create(Error.prototype, { name: { value: 'Legacy' } });
return [typeof o.stack, String(new Legacy('x')), new Legacy('y') instanceof Error];
// # function-properties
function f(a, b = 1, ...c) {} const g = (a, b) => {}; const bound = f.bind(null, 1);
return [f.length, f.name, g.length, g.name, bound.length, bound.name, (() => {}).name, (class { static m() {} }).m.name, new Function('a', 'b', 'return a').length, Object.getOwnPropertyDescriptor({ get x() { return 1 } }, 'x').get.name];
// # function-from-text
return [new Function('a', 'b', 'return a * b')(3, 4), Function('return typeof this')(), (0, eval)('1 + 2'), new Function('return function inner() { return new.target }')()(), (async () => {}).constructor('return await 5') instanceof Function];
// # eval-sees-its-scope
let x = 1; const out = [eval('x + 1'), eval('var y = 5; y'), typeof y];
eval('x = 10'); out.push(x);
try { eval('}') } catch (e) { out.push(e.name) }
return out;
// # arguments-object
function f(a) { a = 9; return [arguments.length, arguments[0], [...arguments], typeof arguments.callee] }
try { return f(1, 2) } catch (e) { return e.name }
// # tagged-templates
const tag = (strings, ...values) => [strings.raw, [...strings], values, Object.isFrozen(strings)];
const same = () => (s => s)`x`;
return [tag`a${1}\n${2}`, same() === same(), String.raw`\u00e9${1}`, tag`\unicode`[1]];
// # getter-setter-static-blocks
class A { static #n = 0; static { A.#n = 5 } static get n() { return A.#n++ } static accessorless = A.n; ['x' + 1] = 2; static async *[Symbol.asyncIterator]() { yield 1 } }
const out = [A.n, A.accessorless, new A().x1];
for await (const v of A) out.push(v);
return out;
// # private-methods-and-brands
class C { #m() { return this.#x } get #x() { return 1 } set #x(v) { this.y = v } static is(o) { return #m in o } run() { this.#x = 4; return [this.#m(), this.y] } static #s = 1; static s(o) { return o.#s } }
const out = [new C().run(), C.is(new C()), C.is({})];
try { C.s({}) } catch (e) { out.push(e.name) } try { C.is(1) } catch (e) { out.push(e.name) }
return out;
// # super-everywhere
const base = { hi() { return 'base ' + this.n }, get g() { return 'g' + this.n } }, o = { __proto__: base, n: 1, hi() { return super.hi() + super.g + (() => super.hi())() } };
class A { static s() { return this.name } v() { return 1 } } class B extends A { static s() { return super.s() + '!' } f = super.v() + 1; }
return [o.hi(), B.s(), new B().f];
// # derived-constructors
const out = [];
for (const make of [() => new (class extends Object { constructor() {} })(), () => new (class extends null {})(), () => new (class extends Object { constructor() { super(); super() } })(), () => new (class extends Object { constructor() { return 1 } })(), () => new (class A extends (() => {}) {})()]) try { out.push(typeof make()) } catch (e) { out.push(e.name) }
return out;
// # closures-in-loops
const f = []; for (let i = 0; i < 3; i++) { f.push(() => i++); if (i === 1) i++ }
const g = []; for (var j = 0; j < 3; j++) g.push(() => j);
const h = []; for (const k of [1, 2]) h.push(() => k);
return [f.map(x => x()), f.map(x => x()), g.map(x => x()), h.map(x => x())];
// # closures-in-for-heads
const held = [];
for (let i = 0, get = () => i; i < 2; i++) held.push(get, () => i);
return held.map(f => f());
// # temporal-dead-zone
const out = [];
for (const f of [() => { x; let x = 1 }, () => { typeof y; const y = 1 }, () => { new C(); class C {} }, () => (a = b, b = 1) => a, (a = b, b = 1) => a, () => { switch (1) { case 0: let z; case 1: z = 2 } }]) try { out.push(typeof f()) } catch (e) { out.push(e.name) }
return out;
// # var-over-parameter
function f(a, g = () => a) { var a; const before = a; a = 2; return [before, a, g()] }
return f(1);
// # function-hoisting-in-blocks
const out = [typeof later]; { function later() {} out.push(typeof later) }
function twice() { return 1 } out.push(twice()); 
return out;
function unused() {}
// # labelled-blocks
const out = [];
outer: { out.push(1); inner: { out.push(2); if (out.length) break outer; out.push(3) } out.push(4) }
a: for (let i = 0; i < 3; i++) { for (;;) { if (i === 1) continue a; if (i === 2) break a; out.push('i' + i); continue a } }
return out;
// # finally-overrides
const f = () => { for (const x of [1, 2]) { try { return x } finally { if (x === 1) continue; } } return 'end' };
const g = () => { try { throw 1 } catch { return 2 } finally { return 3 } };
const h = () => { l: try { return 1 } finally { break l } return 4 };
return [f(), g(), h()];
// # iterator-is-closed
const log = [], it = () => ({ [Symbol.iterator]: () => ({ n: 0, next() { return { value: this.n++, done: this.n > 5 } }, return(v) { log.push('return'); return {} } }) });
for (const x of it()) if (x === 2) break;
const [a, b] = it(); const [...all] = it();
try { for (const x of it()) throw new Error('x') } catch { log.push('caught') }
try { new Map(it()) } catch (e) { log.push(e.name) }
return [log, a, b, all];
// # iterator-helpers
function* n() { let i = 0; try { while (true) yield i++ } finally { log.push('closed') } }
const log = [], it = n();
return [it.filter(x => x % 2).map(x => x * x).drop(1).take(3).toArray(), log, n().take(3).reduce((a, b) => a + b), n().some(x => x > 3), n().find(x => x === 4), Iterator.from({ next: () => ({ done: true }) }).toArray(), [1, 2].values().flatMap(x => [x, x]).toArray(), n().take(2).every(x => x < 5)];
// # comma-and-sequence
let x = (1, 2), y; y = x++, x++; for (var i = 0, s = ''; s += i, i < 3; i++);
return [x, y, s];
// # exponent-and-separators
return [2 ** 3 ** 2, (-2) ** 2, 1_000_000, 0b1010_1010, 0o17, 0xff_ff, 1e1_0, .5 + 0.1];
// # json-source-text
return [JSON.parse('{"a":1.0,"b":[2]}', (k, v, context) => (context?.source === undefined ? v : [v, context.source])), typeof JSON.rawJSON];
// # structured-clone
const a = { d: new Date(5), m: new Map([[1, { x: 1 }]]), s: new Set([1]), r: /x/gi, n: [1, , 3], u: undefined, b: new Uint8Array([1, 2]), big: 5n, e: new RangeError('m') }; a.self = a;
const b = structuredClone(a), out = [b.self === b, b];
for (const bad of [() => 1, Symbol(), { f() {} }]) try { structuredClone(bad) } catch (e) { out.push(e.name) }
return out;
// # weak-collections
const key = {}, w = new WeakMap([[key, 1]]), s = new WeakSet([key]), r = new WeakRef(key), out = [w.get(key), s.has(key), r.deref() === key, w.delete(key), w.has(key)];
for (const f of [() => w.set(1, 1), () => s.add('x'), () => new WeakRef(null), () => w.set(Symbol.for('a'), 1)]) try { f(); out.push('fine') } catch (e) { out.push(e.name) }
w.set(Symbol('own'), 1);
return out;
// # annex-b
const d = new Date(0);
return ['abc'.substr(-2, 1), escape('ü €'), unescape('%u20AC%FC'), d.getYear(), d.toGMTString(), 'x'.anchor('"'), 'x'.big(), ' x '.trimLeft(), ' x '.trimRight(), ({}).__proto__ === Object.prototype, typeof ({}).__defineGetter__, ({ get a() { return 1 } }).__lookupGetter__('a')(), /a/.compile('b').source, /\1(a)/.test('a'), /[\c]/.test('\\'), /\8/.test('8'), (d.setYear(99), d.getFullYear())];
// # regexp-legacy-statics
/(b)(c)?/.exec('abx');
return [RegExp.$1, RegExp.$2, RegExp.lastMatch, RegExp['$`'], RegExp["$'"]];
// # globals
return [typeof globalThis, globalThis === (0, eval)('this'), typeof queueMicrotask, typeof structuredClone, typeof TextEncoder, typeof URL, typeof AbortController, typeof performance.now(), typeof atob, Object.prototype.toString.call(globalThis).slice(0, 7)];
// # strict-mode
const out = [];
for (const text of ['undeclared = 1', 'with ({}) {}', 'delete x', 'var public = 1', 'function f(a, a) {}', '010', '"\\08"', 'eval = 1', 'NaN = 1', 'undefined = 1']) try { (0, eval)(`"use strict"; ${text}`); out.push('fine') } catch (e) { out.push(e.name) }
return [out, (function () { return this })()];
// # sloppy-code-from-text
return [new Function('x = 5; return typeof x')(), new Function('return 010')(), new Function('with ({ a: 7 }) return a')(), new Function('a', 'arguments[0] = 2; return a')(1), new Function('return this === globalThis')()];
// # deep-recursion
const f = n => (n === 0 ? 0 : 1 + f(n - 1));
return [f(400), f(1000)];
// # endless-recursion-is-caught
let depth = 0; const f = () => { depth++; f() };
try { f() } catch (e) { return [e.name, depth > 500] }
// # mutual-recursion-in-built-ins
const nested = n => n === 0 ? [] : [nested(n - 1)];
const deep = n => [1].map(() => (n ? deep(n - 1) : 0))[0];
return [JSON.stringify(nested(100)).length, deep(100), nested(50).flat(Infinity).length];
// # array-holes
const a = [, 1, , 2]; a.x = 1;
return [a.length, Object.keys(a), a.map(x => 1), a.indexOf(undefined), a.includes(undefined), [...a], a.findIndex(x => x === undefined), Array(3).fill(), Array.from({ length: 2 }), JSON.stringify(a), a.flat(), a.join()];
// # array-likes
return [Array.from('a😀'), Array.from({ 0: 'x', length: 2 }), Array.prototype.map.call('ab', x => x + x), Array.prototype.concat.call(1, [2], { [Symbol.isConcatSpreadable]: true, length: 1, 0: 'y' }), Array.prototype.push.call({ length: 1 }, 5), Array.from(new Map([[1, 2]]))];
// # array-from-async
return [await Array.fromAsync([1, Promise.resolve(2)]), await Array.fromAsync((async function* () { yield 3 })(), x => x * 2)];
// # sort-is-stable
const list = Array.from({ length: 200 }, (_, at) => ({ key: (at * 7) % 5, at }));
return [list.sort((a, b) => a.key - b.key).map(x => x.at), [3, undefined, 1, , 2].sort(), ['b', 'a', 'C', 'ä', 'B'].sort(), [10, 9, 1].sort(), [3, 1, 2].sort(() => 0)];
// # object-statics
return [Object.entries('ab'), Object.fromEntries([['a', 1], ['a', 2]]), Object.is(NaN, NaN), Object.is(0, -0), Object.getOwnPropertyNames('ab'), Object.groupBy('hello', c => c), Object.entries({ b: 1, a: 2 }), Object.assign({}, 'x', null, [9])];
// # dates-of-connectors
return ['2026-11-25T22:06:59.947112Z', '2026-11-25 22:06:59', '2026-11-25 22:06:59.947112', '2026-11-25T22:06:59.123456+02:00', '2026-11-25 22:06:59+00', '2026-11-25T22:06:59.9Z', '2026-11', '2026-11-25T22:06', '2026-11-25 22:06:59.947112+00', '2026-11-25 22:06:59.9471+05:30'].map(t => new Date(t));
// # dates-as-text
const d = new Date(Date.UTC(2026, 0, 31, 12, 5, 6, 7));
d.setUTCMonth(1);
return [String(d), d.toISOString(), d.toUTCString(), d.toDateString(), d.toTimeString(), `${new Date(NaN)}`, new Date(NaN).toJSON(), d[Symbol.toPrimitive]('number'), d + 1, new Date(2026, 0), new Date(99, 0), Date.UTC(0), new Date('x') + ''];
// # dates-people-write
return ['Nov 25, 2026', '25 Nov 2026 10:00 UTC', '11/25/2026', '2026/11/25 5:06 PM', 'Wed, 25 Nov 2026 22:06:59 GMT', 'Wed Nov 25 2026 22:06:59 GMT+0200 (Somewhere)', 'November 25, 2026 10:00:00', '1/2/26', '2026-1-5', 'Sat Jan 1 00:00:00 2000', '12:30', 'tomorrow', '2026-02-30', '2026-02-30T00:00:00Z', '20261125', 'Jan 32 2026', ''].map(t => [t, new Date(t)]);
