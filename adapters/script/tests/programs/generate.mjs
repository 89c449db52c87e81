// Programs made at random, the same ones each time.

/** A source of numbers and choices. */
function source(seed) {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = n => Math.floor(fraction() * n);
  const pick = list => list[below(list.length)];
  const times = (n, make) => Array.from({ length: n }, (_, at) => make(at));
  return { fraction, below, pick, times, chance: p => fraction() < p };
}

const KEYS = ['a', 'b', 'c', 'd', '0', '1', '10', 'length', 'name'];
const VALUES = ['1', "'x'", 'null', 'undefined', '[1, 2]', '{ z: 1 }', 'true', '-0', '2n'];

// Objects of many kinds, and what may be done to each, read through functions that all of them share.
function properties({ pick, below, times, chance }) {
  const objects = ['o0', 'o1', 'o2', 'o3', 'o4', 'o5', 'o6', 'o7'];
  const quoted = () => `'${pick(KEYS)}'`;
  const flags = () => `${chance(0.7) ? 'enumerable: true, ' : ''}${chance(0.7) ? 'configurable: true, ' : ''}`;
  const step = () => {
    const o = pick(objects), k = pick(KEYS), v = pick(VALUES);
    return pick([
      () => `log(read.${pick('abcd')}(${o}))`,
      () => `log(read.${pick('abcd')}(${o}), read.${pick('abcd')}(${pick(objects)}))`,
      () => `${o}['${k}'] = ${v}`,
      () => `write.${pick('abcd')}(${o}, ${v})`,
      () => `log(delete ${o}['${k}'])`,
      () => `Object.defineProperty(${o}, '${k}', { ${flags()}value: ${v}${chance(0.5) ? ', writable: true' : ''} })`,
      () => `Object.defineProperty(${o}, '${k}', { ${flags()}get() { return ['got', this === ${o}] }${chance(0.5) ? `, set(v) { log('set', v) }` : ''} })`,
      () => `Object.defineProperty(${o}, '${k}', { ${flags()}get() { Object.defineProperty(this, '${k}', { value: 7, configurable: true }); return 'lazy' }, set: undefined })`,
      () => `log('${k}' in ${o}, Object.hasOwn(${o}, '${k}'))`,
      () => `log(Object.keys(${o}), JSON.stringify(Reflect.ownKeys(${o}).map(String)))`,
      () => `log(Object.getOwnPropertyDescriptor(${o}, '${k}'))`,
      () => `{ const { ${pick('abcd')}: first, [${quoted()}]: second = 'default', ...rest } = ${o}; log(first, second, rest) }`,
      () => `log({ ...${o}, ${pick('abcd')}: 9, ...${pick(objects)} })`,
      () => `Object.assign(${o}, { ${pick('abcd')}: ${v}, ${pick('abcd')}: ${pick(VALUES)} })`,
      () => `Object.setPrototypeOf(${o}, ${pick([...objects, 'null', 'Object.prototype'])})`,
      () => `{ let n = []; for (const k in ${o}) n.push(k); log(n.slice(0, 20)) }`,
      () => `Object.${pick(['preventExtensions', 'seal', 'freeze'])}(${pick([o, '{ a: 1 }'])})`,
      () => `log(Object.isFrozen(${o}), Object.isSealed(${o}), Object.isExtensible(${o}))`,
      () => `log(Object.entries(${o}).length, Reflect.get(${o}, '${k}', ${pick(objects)}))`,
      () => `log(Reflect.set(${o}, '${k}', ${v}, ${pick(objects)}))`,
      () => `${o}['${k}'] ${pick(['??=', '||=', '&&='])} ${v}`,
      () => `log(${o}.a?.b?.c, ${o}?.['${k}'])`,
      () => `log(Object.groupBy([1, 2, 3], n => String(${o}['${k}'])))`,
    ])();
  };
  return `export default () => {
  const all = [], log = (...values) => void all.push(values.map(v => typeof v === 'object' && v !== null && !Array.isArray(v) ? { ...v } : v));
  const read = { a: o => o.a, b: o => o.b, c: o => o.c, d: o => o.d }, write = { a: (o, v) => { o.a = v }, b: (o, v) => { o.b = v }, c: (o, v) => { o.c = v }, d: (o, v) => { o.d = v } };
  class A { a = 1; get b() { return 'A.b' } set c(v) { log('A.c', v) } d() {} }
  class B extends A { a = 2; static a = 's'; get d() { return super.d.name } }
  const o0 = { a: 1, b: 2 }, o1 = new A(), o2 = new B(), o3 = Object.create(o0), o4 = [1, , 3], o5 = function f(a, b) {}, o6 = Object.create(null);
  const o7 = new Proxy({ a: 'p', c: 3 }, {${pick(['', `get: (t, k, r) => k === 'b' ? 'trapped' : Reflect.get(t, k, r)`, `has: (t, k) => k !== 'a' && k in t`, `ownKeys: t => Reflect.ownKeys(t).reverse()`, `set(t, k, v) { t[k] = [v]; return true }`, `deleteProperty: () => true`])}});
  const tries = [${times(40, step).map(text => `\n    () => { ${text} },`).join('')}
  ];
  for (const attempt of tries) try { attempt() } catch (error) { all.push(error.name) }
  return all;
};
`;
}

function destructuring({ pick, below, times, chance }) {
  let names = 0;
  const value = depth =>
    depth === 0 || chance(0.2)
      ? pick(VALUES)
      : chance(0.5)
        ? `{ ${times(1 + below(4), () => `${pick('abcd')}: ${value(depth - 1)}`).join(', ')} }`
        : `[${times(below(4), () => value(depth - 1)).join(', ')}]`;
  const target = depth => {
    const fallback = chance(0.4) ? ` = ${depth > 0 ? value(depth) : pick(VALUES)}` : '';
    return (depth === 0 || chance(0.4) ? `n${names++}` : pattern(depth - 1)) + fallback;
  };
  const pattern = depth => {
    if (chance(0.55)) {
      const parts = times(1 + below(3), () => `${pick(['a', 'b', 'c', "['d']", "[`${'a'}`]", "['b' + '']"])}: ${target(depth)}`);
      return `{ ${parts.join(', ')}${chance(0.5) ? `, ...n${names++}` : ''} }`;
    }
    const parts = times(1 + below(3), () => (chance(0.15) ? '' : target(depth)));
    return `[${parts.join(', ')}${chance(0.4) ? `${parts.length ? ', ' : ''}...n${names++}` : parts.at(-1) === '' ? ',' : ''}]`;
  };
  const tries = times(12, () => {
    names = 0;
    const bound = pattern(3), list = () => times(names, at => `n${at}`).join(', ');
    const made = value(4);
    return pick([
      () => `() => { const ${bound} = ${made}; return [${list()}] }`,
      () => `() => { let ${list() || 'none'}; (${bound} = ${made}); return [${list()}] }`,
      () => `() => ((${bound}) => [${list()}])(${made})`,
      () => `() => { const out = []; for (const ${bound} of [${made}, ${value(4)}]) out.push([${list()}]); return out }`,
      () => `() => { try { throw ${made} } catch (${bound}) { return [${list()}] } }`,
    ])();
  });
  return `export default () => [${tries.map(text => `\n  ${text},`).join('')}
].map(run => { try { return run() } catch (error) { return error.name } });
`;
}

function expressions({ pick, times }) {
  const values = ['0', '-0', '1', '-1.5', '2 ** 31', '2 ** 53', '1e21', '1e-7', 'NaN', '-Infinity', "''", "' 12 '", "'0x1f'", "'1e3'", "'abc'", 'null', 'undefined', 'true', '[]', '[5]', '[1, 2]', '{}', '3n', '-7n', '{ valueOf: () => 4 }', "{ toString: () => '6' }", "{ [Symbol.toPrimitive]: hint => hint }", 'new Date(5)', "Symbol.iterator", '(() => 1)'];
  const operators = ['+', '-', '*', '/', '%', '**', '&', '|', '^', '<<', '>>', '>>>', '<', '<=', '>', '==', '!=', '===', '&&', '||', 'in', 'instanceof'];
  const tries = times(60, () =>
    pick([
      () => `() => (${pick(values)}) ${pick(operators)} (${pick(values)})`,
      () => `() => (${pick(values)}) ${pick(operators)} (${pick(values)})`,
      () => `() => ${pick(['-', '+', '~', '!', 'typeof ', 'void '])}(${pick(values)})`,
      () => `() => ${pick(['Number', 'String', 'Boolean', 'BigInt', 'parseInt', 'parseFloat', 'Math.round', 'Math.fround', 'Math.clz32', 'Math.trunc', 'isNaN', 'Number.isInteger', 'Array.of', 'encodeURIComponent', 'JSON.stringify'])}(${pick(values)})`,
      () => `() => { let x = ${pick(values)}; return [x${pick(['++', '--'])}, x] }`,
      () => `() => { let x = ${pick(values)}; x ${pick(['+', '-', '*', '**', '??', '>>>', '&&'])}= ${pick(values)}; return x }`,
      () => '() => `${' + pick(values) + '}|${' + pick(values) + '}`',
      () => `() => Math.${pick(['max', 'min', 'hypot', 'imul'])}(${pick(values)}, ${pick(values)})`,
    ])(),
  );
  return `export default () => [${tries.map(text => `\n  ${text},`).join('')}
].map(run => { try { return run() } catch (error) { return error.name } });
`;
}

function arrays({ pick, below, times, chance }) {
  const number = () => below(9) - 3, item = () => pick(['1', '5', "'b'", '3', 'undefined', 'null', '[7, [8]]', 'NaN', '-0', "'10'"]);
  const call = () =>
    pick([
      () => `push(${item()}, ${item()})`, () => `unshift(${item()})`, () => 'pop()', () => 'shift()',
      () => `splice(${number()}, ${below(3)}, ${item()})`, () => `splice(${number()})`, () => `slice(${number()}, ${number()})`,
      () => `fill(${item()}, ${number()}, ${number()})`, () => `copyWithin(${number()}, ${number()}, ${number()})`, () => 'reverse()', () => 'sort()',
      () => 'sort((p, q) => String(q) < String(p) ? -1 : 1)', () => `indexOf(${item()}, ${number()})`, () => `lastIndexOf(${item()})`, () => `includes(${item()})`,
      () => `at(${number()})`, () => `with(${number()}, ${item()})`, () => `toSpliced(${number()}, 1, ${item()})`, () => 'toSorted()', () => 'toReversed()',
      () => `flat(${below(3)})`, () => 'flatMap((v, i) => [v, i])', () => `concat(${item()}, [${item()}, , 2])`, () => "join('-')",
      () => 'map((v, i, all) => [typeof v, i, all.length])', () => 'filter(v => v > 1)', () => 'reduce((sum, v) => sum + String(v))', () => "reduceRight((sum, v) => sum + v, '')",
      () => 'find(v => v === undefined)', () => 'findLastIndex(v => v)', () => 'some((v, i) => i > 2)', () => 'every(v => v)', () => 'entries().next()', () => 'keys().toArray()',
      () => 'toString()', () => 'forEach(function (v, i) { this.push(v) }, list)'.replace('list', '[]'),
    ])();
  const steps = times(40, () => (chance(0.12) ? `list.length = ${below(7)}` : chance(0.1) ? `delete list[${below(5)}]` : chance(0.08) ? `list[${below(9)}] = ${item()}` : `list.${call()}`));
  return `export default () => {
  let list = [1, 'b', , 3], all = [];
  const tries = [${steps.map(text => `\n    () => ${text},`).join('')}
  ];
  for (const attempt of tries) {
    try { const value = attempt(); all.push(value === list ? 'itself' : Array.isArray(value) ? [...value] : value, list.length) } catch (error) { all.push(error.name) }
    if (list.length > 30) list.length = 3;
  }
  return [all, list];
};
`;
}

function typed({ pick, below, times }) {
  const kinds = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array'];
  const n = () => pick(['0', '1', '-1', '127.5', '128', '300', '-129', '65536', '1e10', '0.1', 'NaN', 'Infinity', '-0', "'7'", 'null', 'undefined']);
  const big = () => pick(['0n', '-1n', '2n ** 63n', '123456789012345678901234567890n']);
  const view = () => pick(['Int8', 'Uint8', 'Int16', 'Uint16', 'Int32', 'Uint32', 'Float32', 'Float64']);
  const steps = times(30, () =>
    pick([
      () => `new ${pick(kinds)}([${times(4, n).join(', ')}])`,
      () => `${pick(kinds)}.from(new ${pick(kinds)}([${n()}, ${n()}, ${n()}]), v => v * 2)`,
      () => `new ${pick(['BigInt64Array', 'BigUint64Array'])}([${big()}, ${big()}])`,
      () => `{ const a = new ${pick(kinds)}([${n()}, 3, 2, ${n()}, 9]); a.set([${n()}, 4], ${below(5)}); return [a, a.subarray(${below(6) - 3}), a.slice(1, ${below(6) - 2})] }`,
      () => `{ const a = new ${pick(kinds)}([5, 1, ${n()}, 3]); return [a.toSorted(), a.with(${below(5) - 2}, ${n()}), a.indexOf(${n()}), a.join(), a.at(-1)] }`,
      () => `{ const a = new ${pick(kinds)}([1, 2, 3, 4, 5]); a.copyWithin(${below(4)}, ${below(4)}); a.fill(${n()}, 3); return [a, a.lastIndexOf(2), a.findLast(v => v > 1)] }`,
      () => `{ const d = new DataView(new ArrayBuffer(16), ${below(5)}); d.set${view()}(${below(12)}, ${n()}, ${pick(['true', 'false'])}); return [d.get${view()}(${below(12)}), d.get${view()}(${below(8)}, true), d.buffer] }`,
      () => `{ const b = new ArrayBuffer(8, { maxByteLength: 16 }), a = new ${pick(kinds)}(b); b.resize(${below(17)}); return [a.length, a.byteLength, b.byteLength] }`,
      () => `{ const b = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer, c = b.transfer(${below(12)}); return [b.detached, c, c.slice(-3)] }`,
      () => `new ${pick(kinds)}(new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]).buffer, ${below(9)}, 1)`,
    ])(),
  );
  return `export default () => [${steps.map(text => `\n  () => ${text.startsWith('{') ? text : `(${text})`},`).join('')}
].map(run => { try { return run() } catch (error) { return error.name } });
`;
}

function strings({ pick, below, times }) {
  const texts = ["'abcabc'", "'Straße ÄÖ'", "' \\t x\\u00a0'", "'a,b,,c'", "'\\ud83d\\ude00z'", "'\\ud83dx'", "'e\\u0301'", "''", "'İıß'", "'10'", "'$1 $& $$'", "'ΑΣ Σ'"];
  const short = () => pick(["'a'", "'b'", "','", "''", "'c'", "' '", "'\\ud83d'", '/[b,]/g', '/(.)(?<second>.)/', 'undefined', '/$/gm']);
  const n = () => below(9) - 3;
  const call = () =>
    pick([
      () => `at(${n()})`, () => `slice(${n()}, ${n()})`, () => `substring(${n()}, ${n()})`, () => `substr(${n()}, ${n()})`, () => `charCodeAt(${n()})`, () => `codePointAt(${n()})`,
      () => `indexOf('b', ${n()})`, () => `lastIndexOf('b', ${n()})`, () => `includes('b', ${n()})`, () => `startsWith('b', ${n()})`, () => `endsWith('c', ${n()})`,
      () => `padStart(${n() + 4}, 'xy')`, () => `padEnd(${n() + 4})`, () => `repeat(${n()})`, () => `split(${short()})`, () => `split(${short()}, ${below(3)})`,
      () => `replace(${short()}, ${pick(texts)})`, () => `replaceAll(${short()}, ${pick(["'[$&]'", "'$`'", '(...all) => all.length', "'$<second>'", '"$\'"', "'$2$1'"])})`,
      () => `search(${short()})`, () => `match(${short()})`, () => 'toUpperCase()', () => 'toLowerCase()', () => `trim${pick(['', 'Start', 'End'])}()`,
      () => `normalize('${pick(['NFC', 'NFD', 'NFKC', 'NFX'])}')`, () => 'isWellFormed()', () => 'toWellFormed()', () => `concat(${n()}, null)`, () => 'anchor(\'"\')', () => '[Symbol.iterator]().toArray()',
    ])();
  const steps = times(45, () => `${pick(texts)}.${call()}`.replace('.[', '['));
  return `export default () => [${steps.map(text => `\n  () => ${text},`).join('')}
].map(run => { try { return run() } catch (error) { return error.name } });
`;
}

function patterns({ pick, below, times }) {
  const sources = ['(a+)(b*)', '(?<y>\\d{4})-(?<m>\\d\\d)', '(?<=\\$)\\d+(?:\\.\\d+)?', '(?<!\\w)cat', '\\bfoo\\b', '(?:a|ab)(?:c|bcd)(d*)', '(z)((a+)?(b+)?(c))*', '^\\s*#', '[^]', '.', '\\p{L}+', '\\P{Lu}', '[\\p{Script=Greek}\\d]', '(.)\\1', '(?<q>[\'"]).*?\\k<q>', 'a{2,3}?', 'x*', '(?=(a+))a*b\\1', '(?!foo).{3}', '[a-f\\d]+', '\\u{1f600}', '[\\u{1f600}-\\u{1f64f}]', '\\cJ|\\x41|\\0', '\\w+@\\w+\\.com', '(a|b|)+$', 'ſ|K', '(?:)', '[\\s\\S]{2}', '\\W', '(((a)))|b'];
  const sets = ['[\\p{L}--[a-z]]', '[\\w&&\\d]', '\\p{RGI_Emoji}', '[[a-z]&&[aeiou]]', '[\\q{abc|d}x]', '[^\\d]'];
  const texts = ['aaabbb', '2026-11-25 and 1999-01-02', 'cost $12.50, 3', 'the cat concat', 'foofoo foo', 'abcd', 'zaacbbbcac', '# x\\n #y', 'Äpfel ΑΒΓ 12', 'aa bb "q\\\'s" x', '😀😃 é', 'A\\nB\\0', 'me@x.com', '', 'Kſks', 'abc d x'];
  const flags = () => ['d', 'g', 'i', 'm', 's', 'y'].filter(() => below(3) === 0).join('');
  const step = () => {
    const mode = pick(['', 'u', 'v']), body = mode === 'v' && below(2) ? pick(sets) : pick(sources), text = `'${pick(texts)}'`;
    const made = `new RegExp(${JSON.stringify(body)}, '${flags()}${mode}')`;
    return pick([
      () => `{ const r = ${made}, m = r.exec(${text}); return [m, m && { ...m.groups }, m?.indices?.[0], r.lastIndex] }`,
      () => `[...${text}.matchAll(new RegExp(${made}, 'g${mode}'))].map(m => [m[0], m.index])`,
      () => `${text}.replace(${made}, (...all) => JSON.stringify(all.filter(v => typeof v !== 'object')))`,
      () => `${text}.split(${made}, 8)`,
      () => `{ const r = ${made}; r.lastIndex = ${below(4)}; return [r.test(${text}), r.lastIndex, r.flags, r.source] }`,
      () => `${text}.replace(${made}, "<$&|$1|$\`>")`,
    ])();
  };
  return `export default () => [${times(30, step).map(text => `\n  () => ${text},`).join('')}
].map(run => { try { return run() } catch (error) { return error.name } });
`;
}

function dates({ pick, below, times }) {
  const two = n => String(n).padStart(2, '0');
  const moment = () => {
    const [y, m, d, h, i, s] = [1970 + below(130), 1 + below(12), 1 + below(28), below(24), below(60), below(60)];
    const day = new Date(Date.UTC(y, m - 1, d)), part = String(below(1000000)).padStart(6, '0');
    const zone = pick(['Z', '+00:00', '-07:00', '+05:30', '']), date = `${y}-${two(m)}-${two(d)}`, time = `${two(h)}:${two(i)}:${two(s)}`;
    return pick([
      `${date}`, `${date}T${time}${zone}`, `${date}T${time}.${part.slice(0, 3)}${zone}`, `${date}T${time}.${part}${zone}`, `${date} ${time}`, `${date} ${time}.${part}`, `${date} ${time}+00`,
      `${date} ${time}.${part.slice(0, 2)}+02`, `${date} ${time}-0330`, `${y}-${two(m)}`, `${m}/${d}/${y}`, `${y}/${m}/${d}`, `${y}/${two(m)}/${two(d)} ${time}`, `${m}/${d}/${y} ${h % 12 || 12}:${two(i)} ${h < 12 ? 'AM' : 'PM'}`,
      day.toUTCString(), String(day), day.toDateString(), `${day.toDateString().slice(4, 10)}, ${y}`, `${d} ${day.toDateString().slice(4, 7)} ${y} ${time} GMT`, `${date}T${two(h)}:${two(i)}`, `${date} ${two(h)}:${two(i)}`, `+0${pick(['1', '2'])}${y}-${two(m)}-${two(d)}T${time}Z`,
      `${date}T24:00:00Z`, `${date}T25:00:00Z`, `${y}-13-01`, `${day.toDateString().slice(4, 7)} ${d} ${y} ${time} +0200`, `${date}T${time}z`, `${date}t${time}Z`,
    ]);
  };
  const setter = () => pick(['FullYear', 'Month', 'Date', 'Hours', 'Minutes', 'Seconds', 'Milliseconds']);
  return `export default () => {
  const out = ${JSON.stringify(times(25, moment))}.map(text => [text, new Date(text)]);
  const day = new Date(${Math.floor(below(4e9) * 1000) + below(1000)});
  out.push([${times(6, () => `day.set${pick(['', 'UTC'])}${setter()}(${below(80) - 20}), day.toISOString()`).join(', ')}]);
  out.push([String(day), day.toUTCString(), day.toDateString(), day.toTimeString(), day.getDay(), day.getTimezoneOffset(), day.toJSON(), +day]);
  out.push([Date.UTC(${2000 + below(50)}, ${below(30) - 6}), new Date(${below(130)}, ${below(20)}, ${below(60)}), new Date(8.64e15 + ${below(2)}), new Date(${1900 + below(200)}, 1, 29)]);
  return out;
};
`;
}

function flow({ pick, below, times, chance }) {
  let loops = 0;
  const block = (depth, labels, inLoop) => times(1 + below(3), () => statement(depth, labels, inLoop)).join(' ');
  const statement = (depth, labels, inLoop) => {
    const k = below(100);
    const simple = [`log(${k});`, `total += ${k};`, `if (total % ${2 + below(4)} === 0) log('even', total);`];
    if (labels.length && chance(0.25)) simple.push(`if (step() % ${2 + below(5)} === 0) ${pick(['break', 'continue'])} ${pick(labels)};`);
    if (inLoop && chance(0.2)) simple.push(`if (step() % ${3 + below(4)} === 0) ${pick(['break', 'continue'])};`);
    if (chance(0.12)) simple.push(`if (step() > ${30 + below(60)}) throw new RangeError('${k}');`, `if (step() > ${50 + below(60)}) return '${k}';`);
    if (depth === 0) return simple.pop();
    const id = loops++;
    return pick([
      () => `l${id}: for (let i${id} = 0; i${id} < ${1 + below(4)}; i${id}++) { held.push(() => i${id}); ${block(depth - 1, [...labels, `l${id}`], true)} }`,
      () => `l${id}: for (const v${id} of [${times(3, () => below(9))}]) { log('v', v${id}); ${block(depth - 1, [...labels, `l${id}`], true)} }`,
      () => `{ let w${id} = ${1 + below(4)}; l${id}: do { ${block(depth - 1, labels, true)} } while (--w${id} > 0); }`,
      () => `l${id}: for (const k${id} in { a: 1, b: 2 }) { log(k${id}); ${block(depth - 1, [...labels, `l${id}`], true)} }`,
      () => `try { ${block(depth - 1, labels, inLoop)} } ${chance(0.6) ? `catch (e) { log('caught', e.message); ${block(depth - 1, labels, inLoop)} } ` : ''}finally { log('finally ${id}'); ${chance(0.3) ? block(0, labels, inLoop) : ''} }`,
      () => `switch (step() % 4) { case 0: ${block(depth - 1, labels, inLoop)} case 1: log('one'); ${chance(0.5) ? 'break;' : ''} default: log('default'); case 2: ${block(depth - 1, labels, inLoop)} }`,
      () => `if (step() % 2) { ${block(depth - 1, labels, inLoop)} } else { ${block(depth - 1, labels, inLoop)} }`,
    ])();
  };
  return `export default () => {
  const all = [], held = [];
  let total = 0, steps = 0;
  const log = (...values) => { if (all.push(values.join(' ')) > 400) throw new Error('enough') }, step = () => ++steps;
  const run = () => { ${times(3, () => statement(4, [], false)).join('\n    ')} };
  let end;
  try { end = run() } catch (error) { end = error.name }
  return [all, total, steps, end, held.slice(0, 30).map(f => f())];
};
`;
}

function order({ pick, below, times, chance }) {
  let n = 0;
  const wait = () => pick(['await null;', 'await undefined;', 'await Promise.resolve(1);', 'await { then(r) { log("then called"); r(2) } };', 'await tick();', 'await new Promise(r => queueMicrotask(r));', '']);
  const part = () => {
    const id = n++;
    return pick([
      () => `(async () => { log('${id} a'); ${wait()} log('${id} b'); ${wait()} log('${id} c') })();`,
      () => `Promise.${pick(['resolve', 'reject'])}(${id}).then(v => log('${id} then', v), e => log('${id} catch', e)).finally(() => log('${id} finally'));`,
      () => `queueMicrotask(() => { log('${id} micro'); Promise.resolve().then(() => log('${id} inner')) });`,
      () => `setTimeout(() => log('${id} timer'), ${pick(['0', '1'])});`,
      () => `(async () => { for await (const v of (async function* () { ${wait()} yield ${id}; ${chance(0.5) ? 'yield Promise.resolve("p");' : ''} ${wait()} try { yield 2 } finally { log('${id} cleanup') } })()) { log('${id} of', v); ${chance(0.4) ? 'if (v === 2) break;' : ''} } log('${id} end') })();`,
      () => `(async () => { try { ${wait()} throw new Error('${id}') } catch (e) { log(e.message) } finally { ${wait()} log('${id} after') } })();`,
      () => `Promise.${pick(['all', 'race', 'any', 'allSettled'])}([tick(), ${id}, Promise.${pick(['resolve', 'reject'])}('r')]).then(v => log('${id}', JSON.stringify(v)), e => log('${id}', e.name ?? e));`,
      () => `(async () => { const it = (function* () { try { log('got', yield 1) } finally { log('${id} done') } })(); it.next(); ${wait()} it.${pick(["next('n')", "return('r')"])}; log('${id} it') })();`,
      () => `{ const { promise, resolve } = Promise.withResolvers(); promise.then(() => log('${id} resolved')); resolve(${pick(['1', 'tick()', '{ then(r) { r() } }'])}); }`,
      () => `new Promise((r, j) => { r(Promise.${pick(['resolve', 'reject'])}(${id})); j(9) }).then(v => log('${id} took', v), e => log('${id} failed', e));`,
    ])();
  };
  return `export default async () => {
  const all = [], log = (...values) => void all.push(values.join(' ')), tick = () => Promise.resolve('tick');
  ${times(9, part).join('\n  ')}
  log('sync');
  for (let i = 0; i < ${3 + below(6)}; i++) { await null; log('turn', i) }
  await new Promise(resolve => setTimeout(resolve, 20));
  return all;
};
`;
}

function generators({ pick, below, times, chance }) {
  const body = depth =>
    times(1 + below(3), () =>
      pick([
        () => `log('sent', yield ${below(9)});`, () => `yield* [${below(9)}, 'x'];`, () => (depth ? `log('inner', yield* inner(${below(3)}));` : `yield 'i';`),
        () => (depth ? `try { ${body(depth - 1)} } ${chance(0.5) ? "catch (e) { log('caught', e); yield 'c' }" : ''} finally { log('finally'); ${chance(0.3) ? "yield 'f';" : ''} }` : 'yield;'),
        () => (depth ? `for (let i = 0; i < 2; i++) { ${body(depth - 1)} }` : `yield i++;`), () => (chance(0.3) ? `return 'early';` : `const [p, q = yield 'default'] = [1]; log(p, q);`),
      ])(),
    ).join(' ');
  const move = () => pick(["next()", "next('v')", 'next()', "throw('t')", "return('r')", 'next()']);
  return `export default () => {
  const all = [], log = (...values) => void all.push(values.map(String).join(' '));
  let i = 0;
  function* inner(n) { try { yield \`in \${n}\`; return n * 2 } finally { log('inner ends') } }
  function* outer() { ${body(3)} return 'end' }
  for (const moves of [${times(5, () => `[${times(7, () => `it => it.${move()}`).join(', ')}]`).join(', ')}]) {
    const it = outer();
    for (const move of moves) try { all.push(move(it)) } catch (error) { all.push(['threw', String(error)]) }
  }
  const [first, second] = outer();
  return [all, first, second, Math.max(...outer().take(3).map(Number).filter(n => n === n))];
};
`;
}

function classes({ pick, below, times, chance }) {
  const members = (id, base) =>
    times(4, () =>
      pick([
        () => `m${below(3)}(x) { log('${id}.m'); return ${base ? `[super.m${below(3)}?.(x), '${id}']` : `'${id}'`} }`,
        () => `get g${below(2)}() { return '${id} ' + ${base ? `super.g${below(2)}` : 'this.f0'} }`, () => `set g${below(2)}(v) { log('${id} set', v); this.f1 = v }`,
        () => `f${below(3)} = log('${id} field') ?? ${pick(['1', 'this.f0', 'new.target', '(() => this === undefined)'])};`, () => `static s${below(2)} = ${base ? 'super.s0' : `'${id}'`} + '!';`,
        () => `static { log('${id} static', this.name) }`, () => `['c' + ${below(3)}]() { return typeof this }`, () => `*gen${below(2)}() { yield '${id}'; ${base ? `yield typeof super.gen0;` : ''} }`,
        () => `async a() { return '${id}' }`, () => `static m${below(2)}() { return ${base ? `[super.m0?.(), '${id}']` : `this.name`} }`,
      ])(),
    ).join('\n    ');
  const define = (id, base) => `class ${id}${base ? ` extends ${base}` : ''} {
    #p = log('${id} private') ?? '${id}'; static #count = 0;
    constructor(...all) { ${base ? (chance(0.8) ? `super(...all, '${id}');` : `const made = () => super('arrow'); made();`) : ''} log('${id} made', all.length, new.target.name); ${id}.#count++; ${chance(0.15) ? "return { other: '" + id + "' };" : ''} }
    ${members(id, base)}
    read${id}(o = this) { return [#p in o, o.#p, ${id}.#count] }
    #hidden() { return this.#p + '!' } call${id}() { return this.#hidden?.() }
  }`;
  const parents = ['A', pick(['A', 'B']), pick(['B', 'C', 'Array', 'Error', 'Map'])];
  const use = () =>
    pick([() => `o.m${below(3)}?.(1)`, () => `o.g${below(2)}`, () => `o.g${below(2)} = 5`, () => `o.read${pick('ABCD')}()`, () => `o.call${pick('ABCD')}()`, () => `[...o.gen${below(2)}?.() ?? []]`, () => `o.c${below(3)}?.()`, () => `Object.keys(o)`, () => `o.constructor.name`, () => `o.constructor.s${below(2)}`, () => `o.constructor.m0?.()`, () => `new A().read${pick('ABCD')}(o)`, () => 'o.f2?.()', () => 'String(o).slice(0, 20)']);
  return `export default () => {
  const all = [], log = (...values) => void all.push(values.map(String).join(' '));
  ${define('A', '')}
  ${define('B', parents[0])}
  ${define('C', parents[1])}
  ${define('D', parents[2])}
  for (const make of [() => new A(), () => new B(1), () => new C(1, 2), () => new D(), () => A(), () => Reflect.construct(B, [], C)]) {
    let o;
    try { o = make() } catch (error) { all.push(error.name); continue }
    for (const use of [${times(9, () => `o => ${use()()}`).join(', ')}]) try { all.push(use(o)) } catch (error) { all.push(error.name) }
  }
  return all;
};
`;
}

function json({ pick, below, times, chance, fraction }) {
  const value = depth => (depth === 0 || chance(0.3) ? pick([() => JSON.stringify(fraction() * 10 ** (below(40) - 15)), () => String(below(2 ** 31)), () => "'é\\u2028\\ud800\"\\\\/\\n\\u0007'", () => 'null', () => 'undefined', () => 'new Date(0)', () => 'Symbol()', () => 'NaN', () => 'new Number(3)', () => '() => 1', () => 'new Map([[1, 2]])', () => '{ toJSON(k) { return `as ${k}` } }', () => '5n', () => '[, 1]', () => '/x/'])() : chance(0.5) ? `{ ${times(below(4), () => `${pick(['a', 'b', '2', '1', "'é'", '__proto__x', "''"])}: ${value(depth - 1)}`).join(', ')} }` : `[${times(below(4), () => value(depth - 1)).join(', ')}]`);
  const texts = ['{"a":1,"a":2}', '[1,]', '{"__proto__":{"x":1}}', '"\\u00e9\\ud83d\\ude00"', '01', '-0', '1e999', ' [ ] ', '{"b":[{"c":null}]}', '"\t"', 'nul', '', '[1e-400,1E+2,0.10]', '{"1":1,"0":0,"x":2}', "{'a':1}", '"\\x"', '[[[[1]]]]', '9007199254740993', '\ufeff1'];
  const steps = times(24, () =>
    pick([
      () => `JSON.stringify(${value(3)}, ${pick(['null', "['a', 'b', 2]", '(k, v) => typeof v === "number" ? v + 1 : v', "(k, v) => k === 'a' ? undefined : v", 'function (k, v) { return Array.isArray(this) ? [k].concat(typeof v) : v }'])}, ${pick(['undefined', '2', "'--'", '20', "''"])})`,
      () => `JSON.stringify(${value(4)})`,
      () => `JSON.parse(${JSON.stringify(pick(texts))}${pick(['', ', (k, v) => (Array.isArray(v) ? v.length : v)', ', function (k, v) { if (k === "a") return undefined; return v }', ', (k, v) => [k, v]'])})`,
    ])(),
  );
  return `export default () => [${steps.map(text => `\n  () => ${text},`).join('')}
].map(run => { try { return run() } catch (error) { return error.name } });
`;
}

function numbers({ pick, below, times, fraction, chance }) {
  const x = () => (chance(0.3) ? pick([0, 1, 0.5, 1.005, 123.456, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 0.000001, 4294967295.5, 2.5, -1.5, 1.45]) : (fraction() - 0.5) * 10 ** (below(60) - 25));
  const steps = times(60, () =>
    pick([
      () => `(${x()}).toFixed(${below(22)})`, () => `(${x()}).toPrecision(${1 + below(25)})`, () => `(${x()}).toExponential(${pick(['', below(25)])})`, () => `String(${x()})`, () => `(${below(2 ** 31)}).toString(${2 + below(35)})`,
      () => `parseFloat('${pick(['', ' ', '+', '-.', '0x'])}${x()}${pick(['', 'px', 'e', 'e+', '_1'])}')`, () => `parseInt('${pick(['', ' -', '0x', '0b'])}${below(1e6).toString(16)}', ${pick(['', 10, 16, 2, 36, 1, 8])})`, () => `Math.${pick(['round', 'floor', 'ceil', 'trunc', 'sign', 'fround', 'sqrt', 'abs'])}(${x()})`,
      () => `(${x()}) % (${x()})`, () => `(${x()}) | 0`, () => `(${x()}) >>> 0`, () => `BigInt.as${pick(['Int', 'Uint'])}N(${below(80)}, ${below(2 ** 40)}n ** ${below(4)}n * ${pick(['-1n', '1n'])})`, () => `(${below(2 ** 50)}n ** ${1 + below(5)}n) ${pick(['/', '%', '-', '*', '&', '|', '^', '>>', '<<'])} ${1 + below(50)}n`,
      () => `BigInt('${pick(['', '-', ' 0x', '0b', '1.'])}${below(1000)}')`, () => `((-${below(2 ** 40)}n) ** 3n)`, () => `(${below(2 ** 45)}n ** 3n).toString(${2 + below(35)})`, () => `Number(${below(2 ** 45)}n ** ${1 + below(20)}n)`, () => `[${x()}, ${x()}, ${x()}].sort((a, b) => a - b)`,
    ])(),
  );
  return `export default () => [${steps.map(text => `\n  () => ${text},`).join('')}
].map(run => { try { return run() } catch (error) { return error.name } });
`;
}

function collections({ pick, below, times }) {
  const v = () => pick(['1', "'1'", 'NaN', '-0', '0', 'key', 'null', 'undefined', '2', '3', '1n']);
  const set = () => `new Set([${times(below(5), v).join(', ')}])`;
  const step = () =>
    pick([
      () => `map.set(${v()}, ${v()})`, () => `map.delete(${v()})`, () => `map.get(${v()})`, () => `[map.has(${v()}), map.size]`, () => `set.add(${v()})`, () => `set.delete(${v()})`,
      () => `set.${pick(['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom'])}(${pick([set(), 'map', '{ size: 2, has: x => x === 1, keys: () => [1, 2].values() }', '[1]'])})`,
      () => `{ const seen = []; for (const [k] of map) { seen.push(k); if (seen.length < 6) { map.delete(${v()}); map.set(${v()}, 1) } else break } return seen }`,
      () => `{ const seen = []; set.forEach(x => { if (seen.push(x) < 5) { set.delete(x); set.add(${v()}) } }); return seen }`,
      () => `Map.groupBy([1, 2, 3, 'a'], x => x ${pick(['> 1', "+ ''", '% 2'])})`, () => `Object.fromEntries(map)`, () => `[...map.keys()].concat([...set.values()])`, () => `new Map([...map].reverse())`, () => `map.clear()`,
      () => `structuredClone(map)`, () => `{ const weak = new WeakMap([[key, 1]]); return [weak.get(key), weak.has({}), weak.delete(key)] }`, () => `map.entries().drop(1).take(2).toArray()`, () => `set.values().reduce((a, b) => String(a) + String(b))`,
    ])();
  return `export default () => {
  const key = { key: 1 }, map = new Map([[1, 'one'], [key, 'object'], [NaN, 'nan']]), set = new Set([1, key, '1']);
  return [${times(30, step).map(text => `\n    () => ${text},`).join('')}
  ].map(run => { try { const value = run(); return value === map ? 'map' : value === set ? 'set' : value } catch (error) { return error.name } });
};
`;
}

function types({ pick, below, times, chance }) {
  const name = pick(['Color', 'Level', 'Kind']), members = ['Red', 'Green', 'Blue', 'Deep'];
  const enumeration = `${chance(0.3) ? 'const ' : ''}enum ${name} { ${members.map((m, at) => `${m}${pick(['', ` = ${below(20)}`, at ? ` = ${members[at - 1]} << 1` : ' = 1', ` = 1 << ${at}`])}`).join(', ')} }`;
  const strings = `enum Text { A = '${pick(['a', 'é', ''])}', B = ${pick(["'b'", '`t`', "'x' + 'y'"])}, C = ${below(9)} }`;
  return `import type { Nothing } from './none.ts';
${enumeration}
${strings}
${chance(0.5) ? `enum Text { D = ${below(50)} }` : ''}
interface Shape { readonly area: number; label?: string; [key: string]: unknown }
type Pair<A, B = A> = readonly [first: A, second: B];
abstract class Base<T extends object> implements Shape {
  [key: string]: unknown;
  declare ghost: string;
  protected static made: number = 0;
  constructor(public readonly value: T, protected scale = ${1 + below(5)}, private hidden?: Nothing) { Base.made++; }
  abstract get area(): number;
  over(x: number): number; over(x: string): string;
  over(x: number | string): number | string { return typeof x === 'number' ? x * this.scale : x + this.scale }
}
class Box extends Base<{ w: number; h?: number }> {
  field!: number; override label?: string = 'box' satisfies string;
  override get area(): number { return this.value.w * (this.value.h ?? ${1 + below(4)}) * this.scale }
}
namespace Space { export const one = ${below(9)}; export let two = one + 1; export function bump(this: void, by: number = ${below(5)}): number { two += by; return two } export namespace Inner { export class Made { at = one } } }
${chance(0.6) ? `namespace Space { export const three = Space.two${chance(0.5) ? ' + Space.one' : ''}; }` : 'namespace Space { export const three = 3 }'}
function assert(value: unknown): asserts value is number { if (typeof value !== 'number') throw new TypeError('no') }
function pick<const K extends string>(this: unknown, ...keys: K[]): Record<K, number> { return Object.fromEntries(keys.map((k, at) => [k, at])) as Record<K, number> }
const table = { a: 1, b: [2, 3] } as const satisfies Record<string, unknown>;
const identity = <T,>(x: T): T => x, size = (s?: { n?: number | null }): number => s?.n ?? -1;
export default async (): Promise<unknown> => {
  const box = new Box({ w: ${1 + below(9)}${chance(0.5) ? ', h: 2' : ''} }${chance(0.5) ? `, ${1 + below(6)}` : ''});
  const out: unknown[] = [box, box.area, box.over(${below(9)}), box.over('s'), 'ghost' in box, 'field' in box, Object.keys(box)];
  out.push([${members.map(m => `${name}.${m}`).join(', ')}], Text.A, Text.B, Text[Text.C as number], typeof Text);
  out.push(Space.bump(), Space.two, Space.three, new Space.Inner.Made().at, Object.keys(Space), pick('x', 'y'), table.b[1]!, identity<number>(4), size({ n: null }), size());
  try { assert(${pick(['1', "'x'", 'null'])}); out.push('is') } catch (error: unknown) { out.push((error as Error).name) }
  const pair: Pair<number, string> = [${below(9)}, 'p'], [first, second = <string>'d'] = pair as unknown as [number, string?];
  for (const key of Object.keys(table) as (keyof typeof table)[]) out.push(table[key]);
  let maybe: { deep?: { er?: () => number } } | undefined = ${pick(['undefined', '{}', '{ deep: {} }', '{ deep: { er: () => 8 } }'])};
  out.push(first, second, maybe?.deep?.er?.(), maybe!?.deep);
  return out;
};
`;
}

const KINDS = { properties: [properties, 90], destructuring: [destructuring, 24], expressions: [expressions, 16], arrays: [arrays, 16], typed: [typed, 16], strings: [strings, 16], patterns: [patterns, 20], dates: [dates, 16], flow: [flow, 24], order: [order, 24], generators: [generators, 16], classes: [classes, 16], json: [json, 14], numbers: [numbers, 14], collections: [collections, 14], types: [types, 30] };

/** All of them. */
export function generate() {
  const made = [];
  let kind = 0;
  for (const [name, [make, count]] of Object.entries(KINDS)) {
    kind++;
    for (let at = 0; at < count; at++) made.push({ name: `made-${name}/${at}`, isTyped: name === 'types', source: make(source(kind * 1000 + at)) });
  }
  return made;
}
