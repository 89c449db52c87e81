// # await-order
const log = [], f = async n => { log.push(n + ' in'); await null; log.push(n + ' out') };
const all = [f('a'), f('b')]; log.push('sync'); await Promise.all(all); return log;
// # return-await-takes-turns
const log = [], plain = async () => 1, promised = async () => Promise.resolve(2), awaited = async () => await Promise.resolve(3);
await Promise.all([promised().then(v => log.push(v)), awaited().then(v => log.push(v)), plain().then(v => log.push(v)), (async () => { for (let i = 0; i < 4; i++) { await 0; log.push('t' + i) } })()]);
return log;
// # timers-in-order
const log = []; 
await new Promise(done => { setTimeout(() => { log.push('10'); done() }, 10); setTimeout(() => log.push('0'), 0); const t = setTimeout(() => log.push('never'), 1); clearTimeout(t); queueMicrotask(() => log.push('micro')); Promise.resolve().then(() => log.push('then')); log.push('sync') });
return log;
// # interval
let n = 0; const log = [];
await new Promise(done => { const t = setInterval(() => { log.push(++n); if (n === 3) { clearInterval(t); done() } }, 1) });
return log;
// # timer-arguments
return await new Promise(done => setTimeout((a, b) => done([a, b]), 1, 'x', 2));
// # promise-combinators
const wait = (ms, v, bad) => new Promise((y, n) => setTimeout(() => (bad ? n : y)(v), ms));
return [await Promise.race([wait(8, 'slow'), wait(1, 'fast')]), await Promise.any([wait(1, 'bad', true), wait(3, 'ok')]), await Promise.allSettled([1, Promise.reject(2)]), await Promise.all([]), await Promise.any([]).catch(e => [e.name, e.errors])];
// # thenables
const log = [], t = { get then() { log.push('get then'); return (y, n) => { log.push('called'); y('v'); n('late') } } };
log.push(await t); log.push(await Promise.resolve(t)); return log;
// # async-generator-queue
async function* g() { try { yield 1; yield Promise.reject(new Error('x')) } catch (e) { yield 'caught' } finally { yield 'f' } }
const it = g(), all = await Promise.allSettled([it.next(), it.next(), it.next(), it.next(), it.return(9)]);
return all.map(x => x.value ?? String(x.reason));
// # async-generator-return
const log = []; async function* g() { try { yield 1; yield 2 } finally { await null; log.push('cleaned') } }
for await (const v of g()) { log.push(v); break }
const it = g(); await it.next(); log.push(await it.return(Promise.resolve('r')), await it.next()); return log;
// # async-delegation
async function* a() { const got = yield* b(); yield got } async function* b() { const x = yield 1; yield x; return 'end' }
const it = a(); return [await it.next(), await it.next('sent'), await it.next(), await it.next()];
// # for-await-of-sync
const log = []; for await (const x of [Promise.resolve(1), 2, { then(y) { y(3) } }]) log.push(x);
try { for await (const x of [Promise.reject(new TypeError('t'))]) log.push(x) } catch (e) { log.push(e.name) }
return log;
// # finally-keeps-values
return [await Promise.resolve(1).finally(() => 2), await Promise.reject(3).finally(() => 4).catch(e => e), await Promise.resolve(1).finally(() => { throw 5 }).catch(e => e), await Promise.resolve(1).finally(() => Promise.reject(6)).catch(e => e)];
// # throws-a-plain-value
throw { code: 5 };
// # throws-an-error
throw new RangeError('own');
// # throws-in-a-callback
return [3, 1].sort(() => { throw new SyntaxError('mine') });
// # throws-undefined
throw undefined;
// # throws-with-cause
throw new Error('outer', { cause: new TypeError('inner') });
// # rejections-handled-later
const p = Promise.reject(new Error('later')); const q = p.catch(e => e.message); return await q;
// # abort
const c = new AbortController(), out = []; c.signal.addEventListener('abort', () => out.push('event'), { once: true });
c.abort(new Error('why')); out.push(c.signal.aborted, c.signal.reason.message); try { c.signal.throwIfAborted() } catch (e) { out.push(e.message) }
out.push(AbortSignal.abort().reason.name); return out;
// # subclassed-promise
class P extends Promise {} const p = P.resolve(1).then(x => x); return [p instanceof P, await p, P.all([1]) instanceof P, (async () => {})() instanceof P];
// # resolve-cycles
const { promise, resolve } = Promise.withResolvers(); resolve(promise); return await promise.catch(e => e.name);
// # await-in-odd-places
const f = async (a = 1) => ({ [await 'k']: await a, ...(await { z: 1 }), t: `${await 2}`, l: [...(await [1])], c: (await f2)?.(await 3) }), f2 = Promise.resolve(x => x * 2);
let x = 1; x += await 5; const { y = await 6 } = {}; return [await f(), x, y, await (await (async () => async () => 7)())()];
// # many-microtasks
let n = 0; for (let i = 0; i < 30000; i++) await null, n++; return n;
// # text-and-bytes
const e = new TextEncoder(), d = new TextDecoder();
return [e.encode('é😀\ud800'), d.decode(new Uint8Array([0xc3, 0xa9, 0xff, 0x41])), d.decode(e.encode('\ufeffx')), btoa('\xff\0a'), atob(' /w A= '), e.encodeInto('é', new Uint8Array(1))];
// # urls
const u = new URL('../b?x=1&y=é#h', 'https://me:pw@ex.com:8080/a/c/'); u.searchParams.append('z', 'a b'); u.pathname += '/ü';
return [u.href, u.origin, u.host, u.search, [...u.searchParams], new URLSearchParams({ a: '1 2', b: '&' }).toString(), URL.canParse('x:'), URL.canParse('x'), new URL('HTTP://EX.com:80/%7Ea/./b/..').href];
// # unicode-texts
return ['ß'.toUpperCase(), 'İ'.toLowerCase().length, 'ΣΑΣ'.toLowerCase(), 'ﬁ'.normalize('NFKD'), 'a\u0301'.normalize('NFC').length, [...'👩‍👧e\u0301'].length, 'é' < 'f', 'x'.localeCompare('x'), '\u{1F600}'.codePointAt(0), String.fromCodePoint(128512, 65), encodeURIComponent('é/?😀'), decodeURI('%C3%A9%2F'), encodeURI('a b&c#é')];
// # malformed-uris
const out = []; for (const f of [() => decodeURIComponent('%'), () => decodeURIComponent('%C3'), () => encodeURIComponent('\ud800'), () => decodeURI('%FF')]) try { out.push(f()) } catch (e) { out.push(e.name) } return out;
// # regexp-groups-and-indices
const m = /(?<year>\d{4})-(?<month>\d\d)/d.exec('on 2026-11-25');
return [{ ...m.groups }, m.indices.groups.year, '2026-11'.replace(/(?<a>\d+)-(?<b>\d+)/, '$<b>/$<a>$$'), [...'a1b2'.matchAll(/[a-z](?<n>\d)/g)].map(x => x.groups.n)];
// # regexp-lookbehind
return ['$10 €20'.match(/(?<=\$)\d+/)[0], 'a.b.c'.split(/(?<!a)\./), 'abcdef'.replace(/(?<=(\w)(\w))c/, '[$1$2]'), /(?<=^|,)x/.test('a,x'), 'aXbX'.match(/(?<=([ab])X)/g)];
// # regexp-unicode
return [/^\p{Lu}\p{Ll}+$/u.test('Élan'), 'a😀b'.match(/./gu), 'a😀b'.match(/./g).length, /\u{61}/u.test('a'), /[\p{L}--[a-z]]/v.test('b'), /^\p{RGI_Emoji}$/v.test('👨‍👩‍👧'), /\p{Script_Extensions=Greek}/u.test('α'), 'ſ'.match(/s/iu)?.[0], 'K'.match(/k/i)];
// # regexp-sticky-and-state
const r = /a/gy, out = []; for (const s of ['aab', 'aab', 'aab']) out.push(r.test(s), r.lastIndex); r.lastIndex = 5; out.push(r.exec('aaa'), r.lastIndex);
const g = /./g; g.test('ab'); out.push(g.lastIndex, 'ab'.replace(g, 'x'), g.lastIndex); return out;
// # regexp-errors
const out = []; for (const [s, f] of [['(', ''], ['a{2,1}', ''], ['\\u{110000}', 'u'], ['[b-a]', ''], ['(?<a>)(?<a>)', ''], ['a', 'gg'], ['a', 'uv'], ['\\k<x>', 'u'], ['(?<=a)*', 'u'], ['{1}', 'u'], ['[[a]', 'v']]) try { new RegExp(s, f); out.push('fine') } catch (e) { out.push(e.name) } return out;
// # replacer-functions
return ['a-b-c'.replace(/-(\w)/g, (all, c, at, text) => c.toUpperCase() + at + text.length), 'x'.replace('x', '$&$`$\'$$'), 'aaa'.replaceAll('a', (m, at) => at), 'abc'.replace(/(?<l>b)/, (...all) => JSON.stringify(all.at(-1)))];
// # number-texts
return [0.1 + 0.2, 1e21, 1e-7, 123456789012345680000, -1e-7, (25).toString(36), (255).toString(16), (1.005).toFixed(2), (1e21).toFixed(2), (0).toFixed(1), (-1.5).toFixed(0), (123.456).toPrecision(4), (0.00001).toPrecision(1), (1234.5678).toExponential(2), Number('1_0'), Number(''), Number(' \n12 '), parseInt('12px'), parseFloat('.5.5'), (2 ** 53 + 2).toString(), 5e-324, Number.MAX_VALUE];
// # big-integers
return [2n ** 100n, -7n / 2n, -7n % 2n, 5n & -2n, -5n >> 1n, BigInt.asUintN(8, -1n), BigInt.asIntN(8, 255n), BigInt('0xff'), 10n > 9, 2n == 2, typeof Object(1n), (123n ** 20n).toString(36), BigInt(2 ** 60), 1n < 1.5, [3n, 1, 2n].sort((a, b) => (a < b ? -1 : 1))];
// # bitwise-edges
return [1 << 31, 1 << 32, -1 >>> 0, -1 >>> 31, 2 ** 32 | 0, 2 ** 31 | 0, ~~-1.9, 5 & -6, NaN | 0, 1e300 | 0, -(2 ** 31) >> 31, 0xffffffff ^ 1, Math.imul(0xffffffff, 5), Math.clz32(0.5)];
// # math
return [Math.max(), Math.min(), Math.max(NaN, 1), Math.round(-0.5), Math.round(2.5), Math.sign(-0), Math.cbrt(27), Math.hypot(3, 4), Math.fround(5.5), Math.trunc(-0.9), Math.log2(8), Math.expm1(0), Math.atan2(0, -0), (0.1).toFixed(20), Math.pow(2, 0.5), 7 % -3, -7 % 3, Math.sqrt(2)];
// # conversions
return [[] + {}, [] == false, null == 0, null >= 0, '2' > '12', 2 > '12', [2] * [3], +[], +{}, !!'' + 1, `${[1, [2, 3]]}`, String(Symbol('x')), 1 + null, 1 + undefined, '5' - 2, '5' + 2, true + true, [1, 2] + [3], ({}) + '', +new Date(5), null ?? 'd', 0 || 'e', '' ?? 'f'];
