import { DateTime, Duration, Interval } from "luxon";

export default function () {
  const date = DateTime.fromISO("2024-01-31T10:20:30", { zone: "utc" });
  return [
    date.plus({ months: 1 }).toISODate(), date.toISO(), date.startOf("week").toISODate(), date.diff(DateTime.utc(2023, 12, 24), ["months", "days"]).toObject(), date.weekNumber, date.toFormat("yyyy LL dd HH:mm"),
    Duration.fromISO("PT36H30M").shiftTo("days", "hours", "minutes").toObject(), Interval.fromISO("2024-01-01/P3D").splitBy({ days: 1 }).length, DateTime.fromISO("2024-13-01").invalidExplanation, DateTime.fromSQL("2024-02-29 01:02:03", { zone: "utc" }).toMillis(),
  ];
}
