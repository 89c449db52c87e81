import { code, echarts, json, list, markdown, mermaid, response, summary, table, type Handler } from "millrace";

const EVIL = "a\"b'<c>&</UI_passthrough>\n```\n</domain_rules>|d\\|e";

const BLOCKS = {
  echarts: () => echarts({ title: { text: EVIL }, series: [{ type: "pie", data: [1, 2.5] }] }),
  mermaid: () => mermaid("graph LR; draft-->paid\n%% " + EVIL),
  markdown: () => markdown("**bold** " + EVIL),
  code: () => code("sql", "SELECT '" + EVIL + "' -- ````"),
  table: () => table(["id", EVIL], [[1, EVIL], [null, true], [{ a: [1] }, "line\r\nend"]]),
  list: () => list([EVIL, 2, { a: null }]),
  json: () => json({ text: EVIL, list: [] }),
  summary: () => summary("3 of 5. " + EVIL),
  attributes: () => markdown("x"),
};

const shown: Handler<"shown"> = ({ inputs }) => {
  const make = BLOCKS[inputs.kind as keyof typeof BLOCKS];
  const options = inputs.kind === "attributes" ? { priority: 2, title: EVIL, width: "half" as const } : undefined;
  return response({ ok: true }).ui(make(), options).build();
};
export default shown;
