import { fromZonedTime, getTimezoneOffset, toDate } from "date-fns-tz";

export default function () {
  return [toDate("2024-02-29T10:00:00+05:30").toISOString(), fromZonedTime("2024-06-01 10:00", "+02:00").toISOString(), getTimezoneOffset("-07:00"), toDate("2024-06-01T10:00:00Z").getTime()];
}
