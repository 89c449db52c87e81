import { echarts, response } from "millrace";

const months = Array.from({ length: 40 }, (_, at) => `${2022 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`);

export default () =>
  response(months.map((month, at) => ({ month, revenue: 6_000_000 + ((at * 733_333) % 2_000_000) })))
    .ui(echarts({ title: { text: "Revenue" }, xAxis: { type: "category", name: "month", data: months }, yAxis: { name: "EUR" }, series: [{ type: "line", name: "revenue", data: months.map((_, at) => 6_000_000 + ((at * 733_333) % 2_000_000)) }] }))
    .ui(echarts({ series: [{ type: "pie", data: Array.from({ length: 14 }, (_, at) => ({ name: "part " + at, value: 20 - at })) }] }), { title: "Parts" })
    .ui(echarts({ xAxis: { data: ["a", "b"] }, yAxis: {}, series: Array.from({ length: 15 }, (_, at) => ({ type: "bar", name: "s" + at, data: [at + 1, 2] })) }))
    .build();
