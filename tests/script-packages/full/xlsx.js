import * as XLSX from "xlsx";

export default function () {
  const book = XLSX.utils.book_new();
  const sheet = XLSX.utils.json_to_sheet([{ name: "Zoë", n: 1.5, at: new Date(Date.UTC(2024, 1, 29)) }, { name: "b", n: -2 }], { cellDates: true });
  sheet.C3 = { t: "n", f: "SUM(B2:B3)" };
  XLSX.utils.book_append_sheet(book, sheet, "S");
  const read = XLSX.read(XLSX.write(book, { type: "array", bookType: "xlsx" }), { type: "array" });
  return [read.SheetNames, XLSX.utils.sheet_to_json(read.Sheets.S), XLSX.utils.sheet_to_csv(read.Sheets.S), XLSX.utils.encode_cell({ r: 2, c: 27 }), read.Sheets.S.C3?.f ?? null, XLSX.utils.sheet_to_json(XLSX.read("a;b\n1;2,5\n", { type: "string", FS: ";" }).Sheets.Sheet1)];
}
