import ExcelJS from "exceljs";

export default function () {
  const sheet = new ExcelJS.Workbook().addWorksheet("a");
  sheet.addRow([1, "é", new Date(0)]);
  sheet.mergeCells("A2:B2");
  return [sheet.getCell("B1").value, sheet.getRow(1).cellCount, sheet.getCell("B2").master.address, sheet.lastRow.number];
}
