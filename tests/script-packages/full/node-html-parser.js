import { NodeType, parse } from "node-html-parser";

export default function () {
  const root = parse("<ul id=list><li class='a b'>Hé &lt;</li><li>two<br/></li></ul><!-- c --><p style='color:red'>x", { comment: true });
  const first = root.querySelector("li.a");
  first.setAttribute("title", 'q"q');
  first.classList.add("z");
  root.querySelector("ul").insertAdjacentHTML("beforeend", "<li>3</li>");
  return [root.toString(), first.text, first.rawText, root.querySelectorAll("ul > li").map(li => li.innerHTML), root.getElementById("list").childNodes.map(node => node.nodeType === NodeType.ELEMENT_NODE), root.querySelector("p").attributes, root.structure];
}
