import { DomUtils, ElementType, parseDocument, Parser } from "htmlparser2";

export default function () {
  const events = [];
  const parser = new Parser({ onopentag: (name, attributes) => events.push([name, { ...attributes }]), ontext: text => events.push(text), onclosetag: name => events.push("/" + name), oncomment: text => events.push("!" + text) });
  parser.write("<p class=x>ä &amp; <b>bold");
  parser.end("</b><!-- c --><br></p>");
  const document = parseDocument("<ul><li>1<li>2</ul>");
  return [events, DomUtils.getElementsByTagName("li", document).map(item => DomUtils.textContent(item)), DomUtils.getOuterHTML(document), document.children[0].type === ElementType.Tag];
}
