import * as chrono from "chrono-node";

export default function () {
  const now = { instant: new Date(Date.UTC(2024, 0, 31, 12)), timezone: "UTC" };
  const when = text => chrono.parseDate(text, now)?.toISOString() ?? null;
  return [["5 March 2024 at 10am", "tomorrow at 3:30pm", "next friday", "in 2 weeks", "two days ago", "Sep 12-13", "noon", "2024-02-29T10:00:00+02:00", "nothing here"].map(when), chrono.parse("From 5 to 7 August 2024", now).map(found => [found.text, found.start.get("day"), found.end?.get("day")]), chrono.de.parseDate("am 3. Oktober 2024", now).toISOString()];
}
