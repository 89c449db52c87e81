import { stringify } from "csv-stringify/sync";

export default function () {
  const rows = [{ a: 1, b: "x,y", c: new Date(0), d: true }, { a: 2n, b: 'q"', c: null, d: false }];
  return [
    stringify(rows, { header: true, cast: { date: value => value.toISOString(), boolean: value => (value ? "yes" : "no") } }),
    stringify(rows, { columns: [{ key: "b", header: "Größe" }], header: true, delimiter: ";", quoted: true, record_delimiter: "windows" }),
  ];
}
