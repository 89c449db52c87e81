// No package: what `localeCompare` and `Intl` give where ASCII alone decides, and for a locale that has no data.
const words = ["select", "SELECT", "Select", "sel", "select_x", "select x", "a-b", "ab", "a b", "Ab", "äb", "aé", "ae", "_a", "1a", "10", "2", "", "zeta", "Zeta", "a\tb", "l'eau", "leau", "e\u0301", "e", "f"];
const canonical = tag => { try { return Intl.getCanonicalLocales(tag); } catch (error) { return error.name; } };

export default function () {
  return [
    words.toSorted((a, b) => a.localeCompare(b)), words.map(word => words.map(other => word.localeCompare(other))), words.toSorted(new Intl.Collator("en", { sensitivity: "base", numeric: true }).compare),
    ["fullwide", "en"].map(tag => (12345.5).toLocaleString(tag, { useGrouping: false })), ["FullWide", "abcd", "a", "en_US", "abcdefghi"].map(canonical),
  ];
}
