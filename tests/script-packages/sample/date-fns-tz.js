import { formatInTimeZone, fromZonedTime, getTimezoneOffset, toZonedTime } from "date-fns-tz";

export default function () {
  const date = new Date("2024-06-01T12:00:00Z");
  return [
    formatInTimeZone(date, "America/New_York", "yyyy-MM-dd HH:mm:ssXXX"), formatInTimeZone(date, "Asia/Kolkata", "HH:mm zzz"), fromZonedTime("2024-12-25 10:00", "Europe/Berlin").toISOString(),
    toZonedTime(date, "Asia/Tokyo").getHours(), getTimezoneOffset("America/New_York", new Date("2024-01-01")), formatInTimeZone(date, "UTC", "yyyy-MM-dd'T'HH:mm:ssXXX"),
  ];
}
