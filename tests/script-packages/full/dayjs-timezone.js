import dayjs from "dayjs";
import utc from "dayjs/plugin/utc.js";
import timezone from "dayjs/plugin/timezone.js";

dayjs.extend(utc);
dayjs.extend(timezone);

export default function () {
  const date = dayjs.tz("2024-06-01 12:00", "America/New_York");
  return [date.format(), date.toISOString(), date.tz("Asia/Tokyo").format("YYYY-MM-DD HH:mm z"), dayjs.utc("2024-01-01T00:00:00Z").tz("Europe/Berlin").utcOffset()];
}
