import './first.mjs';
import '@formatjs/intl-pluralrules/polyfill-force.js';
import '@formatjs/intl-numberformat/polyfill-force.js';
import '@formatjs/intl-datetimeformat/polyfill-force.js';
import '@formatjs/intl-relativetimeformat/polyfill-force.js';
import '@formatjs/intl-listformat/polyfill-force.js';

const { DateTimeFormat, NumberFormat } = Intl;
const own = (object, name, value) => Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
for (const name of ['formatRange', 'formatRangeToParts']) {
  own(DateTimeFormat.prototype, name, () => {
    throw new Error(`\`${name}\` of \`Intl.DateTimeFormat\` is not available in scripts: format both dates`);
  });
}
for (const name of ['DisplayNames', 'DurationFormat', 'Segmenter']) {
  own(Intl, name, function () {
    throw new Error(`\`Intl.${name}\` is not available in scripts`);
  });
}
// The methods of dates, which say what is wrong with their options.
const DATE = ['weekday', 'year', 'month', 'day'];
const TIME = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];
const formats = (name, wanted, refused, added) => {
  const method = {
    [name](locales, options) {
      const time = Date.prototype.getTime.call(this);
      if (options === null) throw new TypeError('Cannot convert undefined or null to object');
      const given = Object(options ?? {});
      const filled = Object.create(given);
      if (given[refused] !== undefined) throw new TypeError(`Invalid option : ${refused}`);
      const isGiven = [...wanted, 'dateStyle', 'timeStyle'].some(key => given[key] !== undefined);
      if (!isGiven) for (const key of added) filled[key] = 'numeric';
      const format = new DateTimeFormat(locales, filled);
      return Number.isNaN(time) ? 'Invalid Date' : format.format(time);
    },
  };
  own(Date.prototype, name, method[name]);
};
const [day, clock] = [['year', 'month', 'day'], ['hour', 'minute', 'second']];
formats('toLocaleString', [...DATE, ...TIME], '', [...day, ...clock]);
formats('toLocaleDateString', DATE, 'timeStyle', day);
formats('toLocaleTimeString', TIME, 'dateStyle', clock);
own(Intl, 'supportedValuesOf', key => {
  if (key === 'timeZone') return Object.keys(DateTimeFormat.tzData).sort();
  const known = { calendar: ['gregory'], collation: ['default'], numberingSystem: ['latn'] };
  if (!Object.hasOwn(known, key)) throw new RangeError(`Invalid key : ${key}`);
  return known[key];
});
// Once all data is there: the locale of whoever names none.
globalThis[Symbol.for('millrace.locale')] = locale => {
  for (const name of ['DateTimeFormat', 'ListFormat', 'NumberFormat', 'PluralRules', 'RelativeTimeFormat']) Intl[name].__defaultLocale = locale;
};
// A list of what a list may hold.
own(Array.prototype, 'toLocaleString', {
  toLocaleString(locales, options) {
    return Array.from(this, value => (value === null || value === undefined ? '' : value.toLocaleString(locales, options))).join(',');
  },
}.toLocaleString);

// Transitions of a time zone as `[since, offset, is daylight saving]`, made when they are asked for first.
globalThis[Symbol.for('millrace.zones')] = (abbreviations, packed, links) => {
  const zones = {};
  const names = abbreviations.split('|');
  for (const zone of packed.split('\n')) {
    const [name, text] = zone.split(' ');
    let made;
    const get = () => {
      if (made === undefined) {
        let at = 0;
        made = text.split('|').map((part, index) => {
          const [delta, abbreviation, offset, daylight] = part.split(',');
          at += delta === '' ? 0 : parseInt(delta, 36);
          return [index === 0 ? -Infinity : at, names[parseInt(abbreviation, 36)], parseInt(offset, 36), daylight === '1'];
        });
      }
      return made;
    };
    Object.defineProperty(zones, name, { get, enumerable: true, configurable: true });
  }
  DateTimeFormat.tzData = zones;
};
