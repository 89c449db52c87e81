import { DateTime } from "luxon";

export default function () {
  const date = DateTime.fromISO("2024-03-31T01:30:00", { zone: "Europe/Berlin" });
  return [
    date.toISO(), date.plus({ hours: 1 }).toISO(), date.setZone("America/New_York").toISO(), date.offset, date.toFormat("cccc, d LLLL yyyy"), date.setLocale("en").toLocaleString(DateTime.DATE_FULL),
    DateTime.fromFormat("March 5, 2024", "LLLL d, yyyy", { zone: "utc" }).toISODate(), date.toRFC2822(), date.zoneName, DateTime.fromISO("2024-01-01", { zone: "Nowhere/X" }).invalidReason,
  ];
}
