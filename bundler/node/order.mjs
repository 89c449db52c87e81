// Makes order.json, the order of letters, punctuation and symbols at the root of CLDR, from the ICU of Node: `node order.mjs > order.json`.
// `groups` has a line for each primary weight: characters that differ in marks only are apart by a tab, those that differ in case only follow each other.
const SCRIPTS = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hiragana}\p{Script=Katakana}]$/u;
const collator = sensitivity => new Intl.Collator('en', { sensitivity }).compare;
const [base, accent, variant] = ['base', 'accent', 'variant'].map(collator);
const chars = [];
for (let code = 0; code < 0xffff; code++) {
  const char = String.fromCharCode(code);
  if (/[\p{Cn}\p{Cs}\p{Co}\p{M}\s]/u.test(char) || char.normalize('NFD') !== char) continue;
  if (SCRIPTS.test(char) || code < 0x2200) chars.push(char);
}
const ignored = chars.filter(char => base(char, '') === 0).join('');
const letters = 'abcdefghijklmnopqrstuvwxyz';
const pairs = [...letters].flatMap(first => [...letters].map(second => first + second));
const expanded = {};
const kept = [];
for (const char of chars) {
  if (base(char, '') === 0) continue;
  const whole = char.normalize('NFKD');
  const pair = /\p{Script=Latin}/u.test(char) && ![...letters].some(letter => base(char, letter) === 0) && pairs.find(pair => base(char, pair) === 0);
  if ([...whole].length > 1 && base(char, whole) === 0) expanded[char] = whole;
  else if (pair) expanded[char] = /^\p{Lu}/u.test(char) ? pair.toUpperCase() : pair;
  else if (/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hiragana}\p{Script=Katakana}\p{P}\p{S}\p{N}]/u.test(char)) kept.push(char);
}
kept.sort((a, b) => variant(a, b) || (a < b ? -1 : 1));
let groups = '';
kept.forEach((char, at) => {
  const before = kept[at - 1];
  groups += (before === undefined ? '' : base(before, char) !== 0 ? '\n' : accent(before, char) !== 0 ? '\t' : '') + char;
});
const marks = [];
for (let code = 0x300; code < 0x370; code++) marks.push(String.fromCharCode(code));
const order = marks.filter(mark => mark.normalize('NFD') === mark).sort((a, b) => variant(`a${a}`, `a${b}`)).join('');
process.stdout.write(`${JSON.stringify({ groups, marks: order, expanded, ignored })}\n`);
