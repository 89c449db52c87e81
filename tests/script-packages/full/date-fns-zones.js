import { TZDate, tz, tzOffset } from "@date-fns/tz";
import { addDays, format } from "date-fns";

export default function () {
  const date = new TZDate(2024, 2, 10, "America/New_York");
  return [date.toISOString(), addDays(date, 1).toISOString(), tzOffset("Asia/Tokyo", new Date(0)), format(date, "yyyy-MM-dd HH:mm xxx"), String(tz("UTC")(0).getTime()), new TZDate("2024-06-01T00:00:00Z", "UTC").getHours()];
}
