// Makes intl/: `Intl` for scripts from the packages of FormatJS, the data of each locale, and the time zones since 1970.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { pack } from './pack.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = process.argv[2];
const formatjs = `${here}node_modules/@formatjs/intl-`;
const connectors = JSON.parse(readFileSync(`${here}connectors.json`, 'utf8'));
const LOCALES = Object.keys(connectors);
const SINCE = 0;
const UNTIL = Date.UTC(2060, 0) / 1000;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
// Each time that a format is made, all formats of the locale are compared with the options, and all time zones put into upper case.
const patches = [
  [`	for (const format of formats) {
		const score = bestFitFormatMatcherScore(options, format);
		if (score > bestScore) {
			bestScore = score;
			bestFormat = format;
		}
	}
`, `	const known = chosen.get(formats) ?? chosen.set(formats, new Map()).get(formats);
	const wanted = JSON.stringify(options);
	if (known.has(wanted)) bestFormat = known.get(wanted);
	else {
		for (const format of formats) {
			const score = bestFitFormatMatcherScore(options, format);
			if (score > bestScore) {
				bestScore = score;
				bestFormat = format;
			}
		}
		known.set(wanted, bestFormat);
	}
`],
  ['function BestFitFormatMatcher(options, formats) {', 'const chosen = new WeakMap();\nfunction BestFitFormatMatcher(options, formats) {'],
  ['function IsValidTimeZoneName(tz, { zoneNamesFromData, uppercaseLinks }) {', `function IsValidTimeZoneName(tz, { zoneNamesFromData, uppercaseLinks }) {
	if (zoneNamesFromData.includes(tz)) return true;`],
];
const patched = {
  name: 'patched',
  setup(build) {
    build.onLoad({ filter: /intl-datetimeformat\/polyfill-force\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8');
      for (const [from, to] of patches) {
        if (contents.split(from).length !== 2) throw new Error(`${path} does not have once: ${from}`);
        contents = contents.replace(from, () => to);
      }
      return { contents, loader: 'js' };
    });
  },
};
const bundled = async entry => {
  const { outputFiles } = await esbuild.build({
    entryPoints: [entry], bundle: true, format: 'iife', platform: 'browser', target: 'es2023', charset: 'utf8', legalComments: 'none', write: false, minify: true, logLevel: 'error', plugins: [patched],
  });
  return outputFiles[0].text;
};
const texts = pack();
const base = texts.add(await bundled(`${here}sources/intl/base.mjs`));
const order = texts.add(await bundled(`${here}sources/intl/collator.mjs`));
const segmenter = texts.add(await bundled(`${formatjs}segmenter/polyfill-force.js`));

// What a file of data gives to the package.
const given = (path, call) => {
  let data;
  const take = { [call]: value => (data = value) };
  new Function('Intl', readFileSync(path, 'utf8'))({ NumberFormat: take, DateTimeFormat: take, PluralRules: take, RelativeTimeFormat: take, ListFormat: take });
  return data;
};
const classes = { numberformat: 'NumberFormat', datetimeformat: 'DateTimeFormat', relativetimeformat: 'RelativeTimeFormat', listformat: 'ListFormat' };
const locales = [];
for (const locale of LOCALES) {
  let text = '';
  for (const [folder, name] of Object.entries(classes)) {
    const value = given(`${formatjs}${folder}/locale-data/${locale}.js`, '__addLocaleData');
    if (folder === 'datetimeformat') value.data.intervalFormats = { intervalFormatFallback: value.data.intervalFormats.intervalFormatFallback };
    // As ICU joins a date and a time, and with the blanks that V8 writes.
    if (folder === 'datetimeformat') Object.assign(value.data.dateTimeFormat, connectors[locale]);
    text += `Intl.${name}.__addLocaleData(${JSON.stringify(value).replaceAll('\u202f', folder === 'datetimeformat' ? ' ' : '\u202f')});\n`;
  }
  const language = locale === 'pt-PT' ? locale : locale.split('-')[0];
  const { code } = await esbuild.transform(readFileSync(`${formatjs}pluralrules/locale-data/${language}.js`, 'utf8'), { minify: true, target: 'es2023' });
  text += `globalThis[Symbol.for('millrace.locale')](${JSON.stringify(locale === 'en' ? 'en-US' : locale)});\n`;
  const whole = `${code.trim().replace(`locale:"${language}"`, `locale:"${locale}"`)}\n${text}`;
  locales.push(`        (${JSON.stringify(locale)}, ${texts.add(whole)}),\n`);
}

const zones = given(`${formatjs}datetimeformat/add-all-tz.js`, '__addTZData');
const offsets = zones.offsets.split('|');
const packed = zones.zones.map(zone => {
  const [name, ...parts] = zone.split('|');
  const all = parts.map(part => part.split(',')).map(([at, ...rest]) => [at === '' ? -Infinity : parseInt(at, 36), ...rest]);
  // Each state once, from where it begins.
  const changes = all.filter(([at], index) => index === 0 || (!Number.isNaN(at) && all[index - 1].slice(1).join() !== all[index].slice(1).join()));
  const first = changes.findLastIndex(([at]) => at <= SINCE);
  const kept = changes.slice(first).filter(([at], index) => index === 0 || at < UNTIL);
  let before = 0;
  const text = kept.map(([at, abbreviation, offset, daylight], index) => {
    const delta = index === 0 ? '' : (at - before).toString(36);
    before = index === 0 ? 0 : at;
    return [delta, Number(abbreviation).toString(36), offsets[offset], daylight].join();
  });
  return `${name} ${text.join('|')}`;
});
const zoneTable = texts.add(`globalThis[Symbol.for('millrace.zones')](${JSON.stringify(zones.abbrvs)}, \`${packed.join('\n')}\`);\n`);
texts.write(out);
writeFileSync(`${out}/table.rs`, `Texts {\n    base: ${base},\n    order: ${order},\n    segmenter: ${segmenter},\n    locales: &[\n${locales.join('')}    ],\n    zones: ${zoneTable},\n}\n`);
const licence = name => `## @formatjs/intl-${name}\n\n${readFileSync(`${formatjs}${name}/LICENSE.md`, 'utf8').trim().replace(/^/gm, '    ').replace(/ +$/gm, '')}\n`;
writeFileSync(`${out}/LICENSES.md`, `# Licences of Intl\n\n${['datetimeformat', 'listformat', 'numberformat', 'pluralrules', 'relativetimeformat', 'segmenter'].map(licence).join('\n')}\nThe data of locales is from CLDR (Unicode License V3), that of time zones from the tz database (public domain).\n`);
