import { degrees, PageSizes, PDFDocument, rgb, StandardFonts } from "pdf-lib";

export default async function () {
  const pdf = await PDFDocument.create();
  pdf.setTitle("Größe");
  pdf.setCreationDate(new Date(0));
  pdf.setModificationDate(new Date(0));
  const page = pdf.addPage(PageSizes.A4);
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  page.drawText("Hi é", { x: 10, y: 20, size: 12, font, color: rgb(1, 0, 0), rotate: degrees(15) });
  const again = await PDFDocument.load(await pdf.save(), { updateMetadata: false });
  return [again.getPageCount(), again.getTitle(), again.getCreationDate(), again.getPage(0).getSize(), font.widthOfTextAtSize("Hi é", 12), (await pdf.saveAsBase64({ useObjectStreams: false })).length];
}
