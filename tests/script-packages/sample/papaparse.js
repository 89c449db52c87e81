import Papa from "papaparse";

export default function () {
  const parsed = Papa.parse('name;n;ok\n"Ä ""x"";y";1.5;true\nb;;FALSE\n"broken;3\n', { header: true, dynamicTyping: true, skipEmptyLines: true });
  const rows = [];
  Papa.parse("a,b\n1,2\n3,4", { step: ({ data }) => rows.push(data) });
  return [parsed.data, parsed.errors, parsed.meta, rows, Papa.unparse([{ a: 1, b: 'q"r' }, { a: null, b: "x,\ny" }], { quotes: [false, true] }), Papa.unparse({ fields: ["x"], data: [["=1+1"]] }, { escapeFormulae: true })];
}
