import { code, echarts, markdown, mermaid, response } from "millrace";

const EVIL = "<img src=x onerror=alert(1)></script><script>alert(1)</script><svg onload=alert(1)>";

export default () =>
  response([{ [EVIL]: "<b>cell</b>", "</table>": EVIL, constructor: "x", toString: null }, JSON.parse('{ "__proto__": { "polluted": 1 } }')])
    .ui(markdown("[a](javascript:alert(1)) [b](JAVASCRIPT:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](https://example.com/?a=1) ![p](https://example.com/p.png) <https://example.com> https://example.com/x\n\n" + EVIL + "\n\n| " + EVIL + " | b |\n| --- | --- |\n| " + EVIL + " | [x](javascript:alert(1)) |\n\n" + "*".repeat(500) + "[".repeat(500) + "> ".repeat(500)), { title: EVIL })
    .ui(echarts({ title: { text: EVIL, link: "javascript:alert(1)" }, xAxis: { data: [EVIL, "b"] }, yAxis: {}, series: [{ type: "bar", name: EVIL, data: [1, 2] }], tooltip: { formatter: EVIL } }))
    .ui(echarts({ series: [{ type: "pie", data: [{ name: EVIL, value: 1 }, { name: "__proto__", value: 1e308 }] }] }))
    .ui(echarts({ series: [{ type: "line", data: [1e308, -1e308, null, "x", {}] }], xAxis: { data: { length: 1e9 } } }))
    .ui(mermaid("graph TD\n  a[\"" + EVIL + "\"] --> b\n  click a \"javascript:alert(1)\""))
    .ui(echarts({ series: [{ type: "bar", data: [1] }], xAxis: { type: "category", data: { length: 1e9 } } }))
    .ui(echarts({ series: [{ type: "bar", data: [1, [2], [[3]], null, { value: { value: 1 } }] }, { type: "bar", data: "x" }], xAxis: [[1]], title: [null, { text: [1] }] }))
    .ui(echarts({ series: [{ type: "gauge", data: [{}], min: {}, max: [] }] }))
    .ui(echarts(null))
    .ui(mermaid("graph LR\n" + "a --> b --> a; b --> b; ".repeat(300)))
    .ui(markdown("**a _b `c [d](".repeat(10000) + " ".repeat(10000) + "|\n" + " ".repeat(10000) + "|"))
    .ui(code("sql", EVIL))
    .suggest("limited", EVIL, { "__proto__": { polluted: 1 }, colour: EVIL })
    .rule(EVIL)
    .image(new Uint8Array([60, 115, 118, 103]), "image/svg+xml")
    .text(EVIL)
    .build();
