import { Temporal } from "temporal-polyfill";

export default function () {
  const date = Temporal.PlainDate.from("2024-01-31");
  return [date.add({ months: 1 }).toString(), date.until("2026-03-01", { largestUnit: "years" }).toString(), Temporal.Instant.from("2024-03-10T06:59:59Z").toZonedDateTimeISO("UTC").add({ seconds: 1 }).toString(), Temporal.Duration.from("PT130M").round({ largestUnit: "hours" }).toString(), date.weekOfYear, Temporal.PlainTime.from("10:00").since("08:30").toString(), Temporal.PlainMonthDay.from("02-29").toString(), (() => { try { Temporal.PlainDate.from("2024-02-30", { overflow: "reject" }); } catch (error) { return error.name; } })()];
}
