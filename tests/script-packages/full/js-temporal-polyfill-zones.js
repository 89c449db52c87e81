import { Temporal } from "@js-temporal/polyfill";

export default function () {
  const moment = Temporal.Instant.from("2024-03-10T06:59:59Z").toZonedDateTimeISO("America/New_York");
  return [moment.toString(), moment.add({ seconds: 1 }).toString(), moment.startOfDay().hoursInDay, moment.offset];
}
