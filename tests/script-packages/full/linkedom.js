import { DOMParser, parseHTML } from "linkedom";

export default function () {
  const { document } = parseHTML("<html><body><ul><li class='a'>Ä &amp; b</li><li>two</li></ul></body></html>");
  const item = document.createElement("li");
  item.textContent = "<three>";
  item.setAttribute("data-n", "3");
  document.querySelector("ul").append(item);
  const xml = new DOMParser().parseFromString("<r><x n='1'/><x n='2'/></r>", "text/xml");
  return [document.querySelectorAll("li").length, document.body.innerHTML, document.querySelector("li.a").nextElementSibling.textContent, item.dataset.n, item.closest("ul").children.length, [...xml.querySelectorAll("x")].map(x => x.getAttribute("n")), document.title];
}
