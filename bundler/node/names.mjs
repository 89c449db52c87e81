// Writes names.json: what the modules of Node have, by name. A function is `null`, what is pure data is its value, in `[value]`.
// It is the input of build.mjs, and is made anew where a newer Node is the judge: `node names.mjs`.
import { writeFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const MAX_DATA = 4000;
// Of the machine, or of this process.
const LEFT_OUT = /^_|^(globalPaths|rootCertificates|settings|workers|startupSnapshot|threadName|devNull)$/;

const isPlain = value => [Object.prototype, Array.prototype, null].includes(Object.getPrototypeOf(value));
const isData = value => (typeof value === 'object' && value !== null ? isPlain(value) && Object.values(value).every(isData) : !['function', 'symbol', 'bigint'].includes(typeof value));
const told = (value, depth) => {
  if (value === undefined) return undefined;
  if (isData(value)) return JSON.stringify(value).length <= MAX_DATA ? [value] : null;
  if (typeof value === 'object' && value !== null && isPlain(value) && depth === 0) return members(value, 1);
  return typeof value === 'symbol' ? undefined : null;
};
const members = (object, depth) => {
  const found = {};
  for (const name of Object.keys(object).sort()) {
    if (LEFT_OUT.test(name) || !/^[A-Za-z$][\w$]*$/.test(name)) continue;
    const said = told(object[name], depth);
    if (said !== undefined) found[name] = said;
  }
  return found;
};
const all = {};
for (const name of builtinModules.filter(name => !name.startsWith('_')).sort()) all[name] = members(require(name), 0);
// The values of this module are those of the process that runs here.
for (const [name, kind] of Object.entries(all.process)) if (kind !== null) delete all.process[name];
for (const name of ['sea', 'sqlite', 'test', 'test/reporters']) all[`node:${name}`] = members(require(`node:${name}`), 0);
writeFileSync(new URL('names.json', import.meta.url), `${JSON.stringify(all, undefined, 1)}\n`);

// Likewise connectors.json, how Node joins a date and a time, by locale and style, and likely.json, what a locale leaves out. These locales are those that apps can list.
const LOCALES = ['ar', 'cs', 'da', 'de', 'en', 'en-GB', 'es', 'fi', 'fr', 'he', 'hi', 'hu', 'id', 'it', 'ja', 'ko', 'nb', 'nl', 'pl', 'pt', 'pt-PT', 'ro', 'ru', 'sv', 'th', 'tr', 'uk', 'vi', 'zh', 'zh-Hant'];
const connectors = {};
for (const locale of LOCALES) {
  connectors[locale] = {};
  for (const dateStyle of ['full', 'long', 'medium', 'short']) {
    const text = options => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).format(new Date(Date.UTC(2026, 10, 23, 13, 45)));
    const [date, time, both] = [{ dateStyle }, { timeStyle: 'short' }, { dateStyle, timeStyle: 'short' }].map(text);
    const pattern = both.replace(date, '{1}').replace(time, '{0}');
    if (!pattern.includes('{0}') || !pattern.includes('{1}')) throw new Error(`${locale} does not join ${date} and ${time} to ${both}`);
    connectors[locale][dateStyle] = pattern.replace(/[^{}01,،、\s]+/g, word => `'${word}'`);
  }
}
const likely = {};
for (const tag of [...LOCALES, 'no', 'zh-TW', 'zh-HK', 'zh-MO', 'zh-SG']) likely[tag] = new Intl.Locale(tag).maximize().toString();
writeFileSync(new URL('likely.json', import.meta.url), `${JSON.stringify(likely, undefined, 1)}\n`);
writeFileSync(new URL('connectors.json', import.meta.url), `${JSON.stringify(connectors, undefined, 1)}\n`);
