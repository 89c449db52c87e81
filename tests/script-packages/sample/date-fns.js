import { addMonths, differenceInCalendarDays, eachDayOfInterval, format, formatDistance, formatISO, getISOWeek, intervalToDuration, isValid, parse, parseISO, startOfWeek } from "date-fns";
import { de } from "date-fns/locale";

export default function () {
  const date = parseISO("2024-01-31T10:20:30Z");
  return [
    format(addMonths(date, 1), "EEEE, do MMMM yyyy 'at' HH:mm"), format(date, "PPPP", { locale: de }), formatISO(startOfWeek(date, { weekStartsOn: 1 })),
    differenceInCalendarDays(new Date("2025-03-01"), date), eachDayOfInterval({ start: date, end: addMonths(date, 1) }).length, getISOWeek(new Date("2021-01-03")),
    formatDistance(date, new Date("2024-02-03T10:20:30Z"), { addSuffix: true }), intervalToDuration({ start: date, end: new Date("2025-03-03") }),
    parse("29/02/2024 5pm", "dd/MM/yyyy haaa", new Date(0)).toISOString(), isValid(parse("30/02/2024", "dd/MM/yyyy", new Date(0))),
  ];
}
