import dayjs from "dayjs";
import utc from "dayjs/plugin/utc.js";
import relativeTime from "dayjs/plugin/relativeTime.js";
import customParseFormat from "dayjs/plugin/customParseFormat.js";
import duration from "dayjs/plugin/duration.js";
import isoWeek from "dayjs/plugin/isoWeek.js";
import "dayjs/locale/fr.js";

for (const plugin of [utc, relativeTime, customParseFormat, duration, isoWeek]) dayjs.extend(plugin);

export default function () {
  const date = dayjs.utc("2026-01-30T10:00:00Z");
  return [
    date.add(1, "month").format("YYYY-MM-DD dddd"), date.from(dayjs.utc("2026-02-02")), date.diff(dayjs.utc("2025-12-01"), "day"), date.endOf("month").toISOString(),
    dayjs("05-02-1969 1:02 PM", "MM-DD-YYYY h:mm A").format(), dayjs("31/02/2024", "DD/MM/YYYY", true).isValid(), dayjs.duration({ hours: 49, minutes: 5 }).humanize(),
    date.isoWeek(), date.locale("fr").format("dddd D MMMM"), dayjs("2024-01-31").set("month", 1).toDate(), dayjs("not a date").format(),
  ];
}
