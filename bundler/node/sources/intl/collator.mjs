// Texts in the order of the root of CLDR for letters with and without marks: what is ignored is compared in turn by letters, marks, case.
// `de`, `en`, `fr`, `it`, `nl`, `pt` have this order; other languages move letters of their own.
const own = (object, name, value) => Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
const MARKS = /\p{M}+/gu;
const expanded = { ß: 'ss', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D', ł: 'l', Ł: 'L', þ: 'th', Þ: 'TH', ı: 'i' };
// Blanks, then punctuation, then symbols, then digits, then letters.
const PUNCTUATION = `_-,;:!?.'"()[]{}@*/\\&#%\`^+<=>|~$`;
const rank = char => {
  if (/\s/u.test(char)) return 0;
  const at = PUNCTUATION.indexOf(char);
  if (at >= 0) return 1 + at;
  if (/[\p{P}]/u.test(char)) return 100 + char.codePointAt(0) / 2e6;
  if (/[\p{S}]/u.test(char)) return 200 + char.codePointAt(0) / 2e6;
  if (/\p{N}/u.test(char)) return 300;
  return 400;
};
const plain = text => text.normalize('NFD').replace(MARKS, '').replace(/[ßæÆœŒøØđĐłŁþÞı]/g, char => expanded[char]);
const keys = new Map();
const keyOf = char => {
  let key = keys.get(char);
  if (key === undefined) {
    const place = rank(char);
    key = place < 400 ? [place, place === 300 ? Number(char) || 0 : 0] : [place, char.toLowerCase().codePointAt(0)];
    keys.set(char, key);
  }
  return key;
};
const primary = (a, b, isNumeric) => {
  const [left, right] = [Array.from(a), Array.from(b)];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    if (isNumeric && /\d/.test(left[i]) && /\d/.test(right[j])) {
      let [x, y] = ['', ''];
      while (i < left.length && /\d/.test(left[i])) x += left[i++];
      while (j < right.length && /\d/.test(right[j])) y += right[j++];
      [x, y] = [x.replace(/^0+(?=\d)/, ''), y.replace(/^0+(?=\d)/, '')];
      if (x.length !== y.length) return x.length - y.length;
      if (x !== y) return x < y ? -1 : 1;
      continue;
    }
    const [k, l] = [keyOf(left[i++]), keyOf(right[j++])];
    if (k[0] !== l[0]) return k[0] - l[0];
    if (k[1] !== l[1]) return k[1] - l[1];
  }
  return left.length - i - (right.length - j);
};
const sign = number => (number < 0 ? -1 : number > 0 ? 1 : 0);
const ofCase = (a, b, first) => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] !== a[i].toLowerCase(), b[i] !== b[i].toLowerCase()];
    if (x !== y) return (x ? 1 : -1) * (first === 'upper' ? -1 : 1);
  }
  return 0;
};
const ofMarks = (a, b) => {
  const marks = text => text.normalize('NFD').match(/.\p{M}*/gsu)?.map(each => each.replace(/^./su, '') + (expanded[each[0]] ? '\u{10ffff}' : '')) ?? [];
  const [x, y] = [marks(a), marks(b)];
  for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
};
const choice = (options, name, allowed, fallback) => {
  const value = options[name];
  if (value === undefined) return fallback;
  if (!allowed.includes(`${value}`)) throw new RangeError(`Value ${value} out of range for Intl.Collator options property ${name}`);
  return `${value}`;
};
class Collator {
  #resolved;
  #compare;
  constructor(locales, given) {
    const options = given === undefined ? {} : Object(given);
    const [wanted = 'en'] = Intl.getCanonicalLocales(locales);
    const tagged = /-u(?:-[a-z\d]{3,8})*?(?:-[a-z\d]{2}(?:-[a-z\d]{3,8})*?)*?-kn(?!-false)/.test(wanted);
    this.#resolved = {
      locale: Intl.NumberFormat.supportedLocalesOf([wanted])[0]?.replace(/-u-.*/, '') ?? Intl.NumberFormat().resolvedOptions().locale,
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
      const [p, q] = [plain(x), plain(y)];
      const byLetter = primary(p, q, numeric);
      if (byLetter !== 0) return sign(byLetter);
      if (sensitivity === 'accent' || sensitivity === 'variant') {
        const byMark = ofMarks(x, y);
        if (byMark !== 0) return byMark;
      }
      return sensitivity === 'case' || sensitivity === 'variant' ? ofCase(p, q, caseFirst) : 0;
    });
  }
  resolvedOptions() {
    return { ...this.#resolved };
  }
  static supportedLocalesOf(locales) {
    return Intl.NumberFormat.supportedLocalesOf(locales);
  }
}
Object.defineProperty(Collator.prototype, Symbol.toStringTag, { value: 'Intl.Collator', configurable: true });
own(Intl, 'Collator', function (locales, options) {
  return new Collator(locales, options);
});
Intl.Collator.prototype = Collator.prototype;
Object.defineProperty(Collator.prototype, 'constructor', { value: Intl.Collator, writable: true, configurable: true });
own(Intl.Collator, 'supportedLocalesOf', Collator.supportedLocalesOf);
const usual = new Map();
own(String.prototype, 'localeCompare', {
  localeCompare(other, locales, options) {
    if (options !== undefined) return new Collator(locales, options).compare(this, other);
    const key = `${locales}`;
    if (!usual.has(key)) usual.set(key, new Collator(locales).compare);
    return usual.get(key)(this, other);
  },
}.localeCompare);
