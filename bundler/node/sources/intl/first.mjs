import likely from '../../likely.json';
import { getCanonicalLocales, written } from './tags.mjs';

// `Intl` before anything is in it: what the packages ask of each other.
const own = (object, name, value) => Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
own(globalThis, 'Intl', {});
Object.defineProperty(globalThis.Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
own(globalThis.Intl, 'getCanonicalLocales', getCanonicalLocales);

// The parts of a locale. What it leaves out is known of the locales that apps can list.
class Locale {
  #tag;
  #parts;
  constructor(tag, options) {
    this.#tag = written(tag instanceof Locale ? tag.toString() : tag);
    const [base] = this.#tag.split(/-[a-z\d]-/);
    const [language, ...rest] = base.split('-');
    const script = rest.find(part => /^[A-Z][a-z]{3}$/.test(part));
    const region = rest.find(part => /^([A-Z]{2}|\d{3})$/.test(part));
    this.#parts = { language: options?.language ?? language, script: options?.script ?? script, region: options?.region ?? region };
    const extension = this.#tag.slice(base.length);
    const variants = rest.filter(part => part !== script && part !== region);
    this.#tag = [this.#parts.language, this.#parts.script, this.#parts.region, ...variants].filter(part => part !== undefined).join('-') + extension;
  }
  get language() {
    return this.#parts.language;
  }
  get script() {
    return this.#parts.script;
  }
  get region() {
    return this.#parts.region;
  }
  get baseName() {
    return this.#tag.split(/-[a-z\d]-/)[0];
  }
  get numberingSystem() {
    return /-u-(?:.*-)?nu-([a-z\d]+)/.exec(this.#tag)?.[1];
  }
  get calendar() {
    return /-u-(?:.*-)?ca-([a-z\d]+)/.exec(this.#tag)?.[1];
  }
  maximize() {
    const { language, script, region } = this.#parts;
    const known = likely[`${language}-${region}`] ?? likely[`${language}-${script}`] ?? likely[language];
    if (known === undefined) return this;
    const [, likelyScript, likelyRegion] = known.split('-');
    return new Locale(this, { script: script ?? likelyScript, region: region ?? likelyRegion });
  }
  minimize() {
    const whole = this.maximize().toString();
    const { language, region, script } = this.#parts;
    const shorter = [language, region && `${language}-${region}`, script && `${language}-${script}`].find(tag => tag && new Locale(tag).maximize().toString() === whole);
    return shorter === undefined ? this : new Locale(shorter);
  }
  toString() {
    return this.#tag;
  }
}
Object.defineProperty(Locale.prototype, Symbol.toStringTag, { value: 'Intl.Locale', configurable: true });
own(globalThis.Intl, 'Locale', Locale);
