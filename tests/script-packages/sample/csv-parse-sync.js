import { parse } from "csv-parse/sync";

export default function () {
  const text = '\ufeffid;name;note\n1;"Ä; ""B""";2024-02-29\n2;b;\n# comment\n';
  const rows = parse(text, { bom: true, columns: true, delimiter: ";", comment: "#", cast: value => (/^\d+$/.test(value) ? Number(value) : value) });
  const failed = (() => { try { parse("a,b\n1,2,3", { columns: true }); } catch (error) { return [error.code, error.message]; } })();
  return [rows, parse("a,b\n1,2", { from_line: 2 }), failed];
}
