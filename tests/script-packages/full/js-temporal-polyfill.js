import { Temporal } from "@js-temporal/polyfill";

export default function () {
  const date = Temporal.PlainDate.from("2024-01-31");
  const moment = Temporal.Instant.from("2024-03-10T06:59:59Z").toZonedDateTimeISO("UTC");
  return [
    date.add({ months: 1 }).toString(),
    date.until("2026-03-01", { largestUnit: "year" }).toString(),
    Temporal.Duration.from("PT130M").round({ largestUnit: "hour" }).toString(),
    Temporal.PlainTime.from("13:07:59.999").round("minute").toString(),
    moment.add({ seconds: 1 }).toString(),
    Temporal.PlainYearMonth.from("2024-02").daysInMonth,
    date.toZonedDateTime({ timeZone: "UTC", plainTime: "10:00" }).epochMilliseconds,
    [Temporal.PlainDate.from("2024-02-03"), date].sort(Temporal.PlainDate.compare).map(String),
  ];
}
