import moment from "moment";

export default function () {
  const date = moment.utc("2024-01-31T10:20:30.456Z");
  return [
    date.clone().add(1, "month").format("dddd, MMMM Do YYYY, h:mm:ss a"), date.isoWeek(), moment.duration(49, "hours").humanize(), date.from(moment.utc("2024-02-03")), moment("12-25-1995", "MM-DD-YYYY").toISOString(),
    moment.utc("2024-02-30").isValid(), date.diff(moment.utc("2023-01-01"), "days"), date.calendar(moment.utc("2024-02-01")), moment.utc([2024, 1, 29]).endOf("quarter").toDate(), moment.duration("P1DT2H").asMinutes(), date.toArray(), moment.parseZone("2024-01-01T00:00:00+05:30").format(),
  ];
}
