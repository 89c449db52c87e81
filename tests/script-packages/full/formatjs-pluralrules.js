import "@formatjs/intl-pluralrules/polyfill-force.js";
import "@formatjs/intl-pluralrules/locale-data/en.js";

export default function () {
  const cardinal = new Intl.PluralRules("en"), ordinal = new Intl.PluralRules("en", { type: "ordinal" });
  return [[0, 1, 2, 1.5].map(n => cardinal.select(n)), [1, 2, 3, 4, 11, 22].map(n => ordinal.select(n)), ordinal.resolvedOptions().pluralCategories.slice().sort()];
}
