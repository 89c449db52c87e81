import ExcelJS from "exceljs";

export default async function () {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet("Größe");
  sheet.columns = [{ header: "Name", key: "name", width: 10 }, { header: "N", key: "n" }];
  sheet.addRow({ name: "é", n: 1.5 });
  sheet.getCell("C1").value = { formula: "SUM(B2:B2)", result: 1.5 };
  const again = new ExcelJS.Workbook();
  await again.xlsx.load(await book.xlsx.writeBuffer());
  return [again.worksheets[0].name, again.worksheets[0].getRow(2).values.slice(1), again.worksheets[0].getCell("C1").formula, sheet.rowCount];
}
