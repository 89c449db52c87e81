import { XMLBuilder, XMLParser, XMLValidator } from "fast-xml-parser";

export default function () {
  const text = "<?xml version='1.0'?><r a='1'><i>x &amp; ü</i><i>2.50</i><big>12345678901234567890</big><c><![CDATA[<y>]]></c><e/></r>";
  const options = { ignoreAttributes: false, attributeNamePrefix: "@", cdataPropName: "cdata" };
  const parsed = new XMLParser(options).parse(text);
  return [parsed, new XMLBuilder({ ...options, format: true }).build(parsed), XMLValidator.validate("<a><b></a>"), XMLValidator.validate(text), new XMLParser({ preserveOrder: true }).parse("<p>a<b>c</b>d</p>")];
}
