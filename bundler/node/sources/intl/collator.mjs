// Texts in the order of the root of CLDR: compared in turn by letters, marks and case. `de`, `en`, `fr`, `it`, `nl`, `pt` have this order;
// other languages move letters of their own.
import { expanded, groups, ignored, marks } from '../../order.json';
import { getCanonicalLocales } from './tags.mjs';

const own = (object, name, value) => Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
const isMark = /^\p{M}$/u;
const NUMBERS = 1e4;
// The first of the currencies, which other symbols come before.
const CURRENCY = '\u00a4';
const LETTERS = 2e4;
// The weights of a character: its letter, its marks, its case.
let weights;
const table = () => {
  if (weights !== undefined) return weights;
  weights = new Map();
  groups.split('\n').forEach((group, letter) => {
    // Between Hangul and Han.
    const first = /^[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(group) ? LETTERS + 0x2000 + letter : letter + 2;
    group.split('\t').forEach((alike, mark) => Array.from(alike).forEach((char, at) => weights.set(char, [first, mark, at])));
  });
  return weights;
};
// Tabs and line feeds come before spaces.
const blankOf = code => (code < 32 ? code / 32 : 1);
const weightsOf = char => {
  const known = table().get(char);
  if (known !== undefined) return known;
  const code = char.codePointAt(0);
  const first = /\s/u.test(char) ? blankOf(code) : /[\p{P}\p{S}]/u.test(char) ? table().get(CURRENCY)[0] - 1 + code / 2e6 : /\p{N}/u.test(char) ? NUMBERS + (Number(char) || 0) : LETTERS + code;
  const made = [first, 0, 0];
  weights.set(char, made);
  return made;
};
const markOf = mark => {
  const at = marks.indexOf(mark);
  return at < 0 ? 1000 + mark.codePointAt(0) : 1 + at;
};
// A text as weights of its characters, each with the marks that follow it.
const read = text => {
  const elements = [];
  for (const char of text.normalize('NFD')) {
    if (isMark.test(char)) {
      if (elements.length > 0) elements.at(-1).marks.push(markOf(char));
      else elements.push({ letter: 0, marks: [markOf(char)], kind: 0, char: '' });
    } else if (!ignored.includes(char)) {
      const alike = expanded[char];
      for (const each of alike ?? char) {
        const [letter, mark, kind] = weightsOf(each);
        elements.push({ letter, marks: mark > 0 || alike !== undefined ? [500 + mark] : [], kind, char: each });
      }
    }
  }
  return elements;
};
// The letters of ASCII. Of two texts mostly the first difference decides, and it is one of these.
const plain = new Float64Array(128).fill(NaN);
groups.split('\n').forEach((group, letter) => {
  for (const char of group) if (char.charCodeAt(0) < 128) plain[char.charCodeAt(0)] = letter + 2;
});
for (const blank of '\t\n\v\f\r ') plain[blank.charCodeAt(0)] = blankOf(blank.charCodeAt(0));
// Which text comes first by letters, where those of ASCII decide; 0 where they do not.
const atOnce = (x, y) => {
  const length = Math.min(x.length, y.length);
  for (let i = 0; i < length; i++) {
    const difference = plain[x.charCodeAt(i)] - plain[y.charCodeAt(i)];
    if (difference !== 0) return difference || 0;
  }
  return plain[x.charCodeAt(length)] || -plain[y.charCodeAt(length)] || 0;
};
const isDigit = element => element !== undefined && element.char >= '0' && element.char <= '9';
const primary = (left, right, isNumeric) => {
  let [i, j] = [0, 0];
  const run = (elements, at) => {
    let end = at;
    while (isDigit(elements[end])) end++;
    return [elements.slice(at, end).map(each => each.char).join('').replace(/^0+(?=\d)/, ''), end];
  };
  while (i < left.length && j < right.length) {
    if (isNumeric && isDigit(left[i]) && isDigit(right[j])) {
      let [x, y] = ['', ''];
      [x, i] = run(left, i);
      [y, j] = run(right, j);
      if (x.length !== y.length) return x.length - y.length;
      if (x !== y) return x < y ? -1 : 1;
      continue;
    }
    const difference = left[i++].letter - right[j++].letter;
    if (difference !== 0) return difference;
  }
  return left.length - i - (right.length - j);
};
const sign = number => (number < 0 ? -1 : number > 0 ? 1 : 0);
const ofMarks = (left, right) => {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x, y] = [left[i].marks, right[i].marks];
    for (let at = 0; at < Math.max(x.length, y.length); at++) if (x[at] !== y[at]) return (x[at] ?? 0) < (y[at] ?? 0) ? -1 : 1;
  }
  return 0;
};
const ofCase = (left, right, first) => {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x, y] = [left[i], right[i]];
    const [up, low] = [x, y].map(({ char }) => char !== char.toLowerCase());
    if (up !== low && first === 'upper') return up ? -1 : 1;
    if (x.kind !== y.kind) return sign(x.kind - y.kind);
  }
  return 0;
};
const choice = (options, name, allowed, fallback) => {
  const value = options[name];
  if (value === undefined) return fallback;
  if (!allowed.includes(`${value}`)) throw new RangeError(`Value ${value} out of range for Intl.Collator options property ${name}`);
  return `${value}`;
};
// Where nothing else of `Intl` is there, nobody asks.
const supported = locales => globalThis.Intl?.NumberFormat.supportedLocalesOf(locales) ?? [];
class Collator {
  #resolved;
  #compare;
  constructor(locales, given) {
    const options = given === undefined ? {} : Object(given);
    const [wanted = 'en'] = getCanonicalLocales(locales);
    const tagged = /-u(?:-[a-z\d]{3,8})*?(?:-[a-z\d]{2}(?:-[a-z\d]{3,8})*?)*?-kn(?!-false)/.test(wanted);
    this.#resolved = {
      locale: supported([wanted])[0]?.replace(/-u-.*/, '') ?? globalThis.Intl?.NumberFormat().resolvedOptions().locale ?? 'en-US',
      usage: choice(options, 'usage', ['sort', 'search'], 'sort'),
      sensitivity: choice(options, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant'),
      ignorePunctuation: Boolean(options.ignorePunctuation ?? false),
      collation: 'default',
      numeric: Boolean(options.numeric ?? tagged),
      caseFirst: choice(options, 'caseFirst', ['upper', 'lower', 'false'], 'false'),
    };
  }
  get compare() {
    const { sensitivity, ignorePunctuation, numeric, caseFirst } = this.#resolved;
    return (this.#compare ??= (a, b) => {
      let [x, y] = [`${a}`, `${b}`];
      if (x === y) return 0;
      if (ignorePunctuation) [x, y] = [x.replace(/[\p{P}\s]/gu, ''), y.replace(/[\p{P}\s]/gu, '')];
      const first = numeric ? 0 : atOnce(x, y);
      if (first !== 0) return sign(first);
      const [p, q] = [read(x), read(y)];
      const byLetter = primary(p, q, numeric);
      if (byLetter !== 0) return sign(byLetter);
      if (sensitivity === 'accent' || sensitivity === 'variant') {
        const byMark = ofMarks(p, q);
        if (byMark !== 0) return byMark;
      }
      return sensitivity === 'case' || sensitivity === 'variant' ? ofCase(p, q, caseFirst) : 0;
    });
  }
  resolvedOptions() {
    return { ...this.#resolved };
  }
  static supportedLocalesOf(locales) {
    return supported(locales);
  }
}
Object.defineProperty(Collator.prototype, Symbol.toStringTag, { value: 'Intl.Collator', configurable: true });
if (globalThis.Intl !== undefined) {
  own(Intl, 'Collator', function (locales, options) {
    return new Collator(locales, options);
  });
  Intl.Collator.prototype = Collator.prototype;
  Object.defineProperty(Collator.prototype, 'constructor', { value: Intl.Collator, writable: true, configurable: true });
  own(Intl.Collator, 'supportedLocalesOf', Collator.supportedLocalesOf);
}
const usual = new Map();
own(String.prototype, 'localeCompare', {
  localeCompare(other, locales, options) {
    if (options !== undefined) return new Collator(locales, options).compare(this, other);
    const key = `${locales}`;
    if (!usual.has(key)) usual.set(key, new Collator(locales).compare);
    return usual.get(key)(this, other);
  },
}.localeCompare);
