// limits: { script: { loops: 2000000 } }
export default function () {
  const at = new Date(Date.UTC(2026, 10, 3, 15, 5, 9));
  const styles = locale => ["full", "long", "medium", "short"].map(style => at.toLocaleString(locale, { dateStyle: style, timeStyle: "short", timeZone: "Europe/Berlin" }));
  const letters = [..."aAbBzZ019 -_.,()$é€ßäÅœñøłçſ"];
  let seed = 7;
  const next = most => ((seed = (seed * 48271) % 2147483647), seed % most);
  const texts = Array.from({ length: 150 }, () => Array.from({ length: 1 + next(3) }, () => letters[next(letters.length)]).join(""));
  return [
    (1234567.891).toLocaleString("en-US"), (0.256).toLocaleString("de-DE", { style: "percent", maximumFractionDigits: 1 }), (1e6).toLocaleString("fr", { style: "currency", currency: "EUR" }),
    new Intl.NumberFormat("en", { notation: "compact" }).format(1234567), new Intl.NumberFormat("en", { style: "unit", unit: "kilometer-per-hour" }).format(50),
    ["en-US", "de-DE", "fr-FR"].map(styles), at.toLocaleDateString("en-US"), at.toLocaleTimeString("en-US", { timeZone: "Asia/Tokyo", timeZoneName: "short" }),
    new Intl.PluralRules("en", { type: "ordinal" }).select(22), new Intl.ListFormat("de").format(["a", "b", "c"]), new Intl.RelativeTimeFormat("fr").format(-3, "month"),
    texts.sort((a, b) => a.localeCompare(b)), ["a10", "a9", "A9"].sort(new Intl.Collator("en", { numeric: true }).compare), ["Ä", "a"].map(text => text.localeCompare("ä", "de", { sensitivity: "base" })),
    [() => at.toLocaleString("en", { timeZone: "Nope/X" }), () => at.toLocaleDateString("en", { timeStyle: "short" }), () => at.toLocaleString(String("e"))].map(call => { try { return call() } catch (error) { return error.name } }),
  ];
}
