import Mustache from "mustache";

export default function () {
  const view = { name: "<Ä & b>", items: [{ n: 1 }, { n: 2, last: true }], empty: [], bold: () => (text, render) => `<b>${render(text)}</b>`, deep: { er: { x: 0 } } };
  const error = (() => { try { Mustache.render("{{#a}}", {}); } catch (caught) { return caught.message; } })();
  return [Mustache.render("{{name}} {{{name}}} {{#items}}{{n}}{{^last}}, {{/last}}{{/items}}{{^empty}}none{{/empty}} {{#bold}}Hi {{deep.er.x}}{{/bold}} {{> part}}{{! c }}", view, { part: "[{{name}}]" }), Mustache.parse("a {{b}} c").length, Mustache.render("<% a %>", { a: 1 }, {}, ["<%", "%>"]), error];
}
