import { code, echarts, list, markdown, mermaid, response, summary, table } from "millrace";

const PIXEL = [
  137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 31, 21, 196, 137, 0, 0, 0, 13, 73, 68, 65,
  84, 120, 156, 99, 248, 207, 192, 240, 31, 0, 5, 0, 1, 255, 86, 199, 47, 13, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

export default () => {
  const months = ["2026-01", "2026-02", "2026-03"];
  const sales = [120, 200, 150];
  const xAxis = { type: "category", data: months };
  return response(months.map((month, index) => ({ month, sales: sales[index], note: null })))
    .ui(echarts({ title: { text: "Sales by month" }, xAxis, yAxis: {}, series: [{ type: "bar", name: "sales", data: sales }] }), { title: "Sales", width: "half" })
    .ui(echarts({ xAxis, yAxis: {}, series: [{ type: "line", data: sales }, { type: "line", name: "plan", data: [100, -50, 170] }] }), { width: "half" })
    .ui(echarts({ series: [{ type: "pie", data: [{ name: "garden", value: 3 }, { name: "kitchen", value: 1 }] }] }), { width: "third" })
    .ui(echarts({ series: [{ type: "gauge", data: [{ name: "of plan", value: 80 }] }] }), { width: "third" })
    .ui(echarts({ xAxis: {}, yAxis: {}, series: [{ type: "scatter", data: [[1, 2], [3, 4]] }] }), { width: "third" })
    .ui(echarts({ dataset: { source: [{ part: "roses", sold: "3" }, { part: "pans", sold: 1 }] }, series: [{ type: "pie", encode: { itemName: "part", value: "sold" } }] }))
    .ui(echarts({ series: [{ type: "sankey", data: [] }] }))
    .ui(mermaid("graph LR\n  draft[A draft] -->|pay| paid{Paid?}\n  paid --> sent\n  paid -.-> draft"))
    .ui(markdown("# Heading\n\nSome **bold** text, and <b>no</b> HTML.\n\n- one\n- two\n\n[a link](https://example.com/)"))
    .ui(code("sql", "SELECT 1"))
    .ui(table(["a", "b"], [[1, "x|y"], [2, "line\nend"]]))
    .ui(list(["first", "second"]))
    .ui(summary("3 months"))
    .rule("Amounts are in cents.")
    .hint("Say that this is a sample.")
    .suggest("limited", "Look closer", { amount: 7, code: "ABCD" })
    .image(new Uint8Array(PIXEL), "image/png", { audience: ["user"] })
    .build();
};
