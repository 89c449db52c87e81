export default function () {
  const date = new Date(Date.UTC(2026, 0, 30, 15, 4));
  return [
    (1234567.891).toLocaleString("en-US"),
    (1234.5).toLocaleString("de-DE", { style: "currency", currency: "EUR" }),
    date.toLocaleString("en-US", { timeZone: "America/New_York" }),
    date.toLocaleString("de-DE", { dateStyle: "full", timeStyle: "short", timeZone: "Europe/Berlin" }),
    new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day"),
    new Intl.PluralRules("en").select(1),
    new Intl.ListFormat("en").format(["a", "b", "c"]),
    ["z", "ä", "a", "B"].sort((a, b) => a.localeCompare(b)),
  ];
}
