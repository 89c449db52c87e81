import Handlebars from "handlebars";

export default function () {
  Handlebars.registerHelper("upper", text => text.toUpperCase());
  Handlebars.registerPartial("item", "<li>{{name}}: {{upper tag}}</li>");
  const template = Handlebars.compile("{{#if title}}<h1>{{title}}</h1>{{/if}}{{#each items as |item i|}}{{i}}{{> item item}}{{else}}none{{/each}}{{{raw}}} {{lookup map 'k'}} {{@root.title}}");
  const error = (() => { try { Handlebars.compile("{{#if}}")({}); } catch (caught) { return caught.message; } })();
  return [template({ title: "<Ä & \"b\">", items: [{ name: "x", tag: "straße" }], raw: "<b>", map: { k: 1 } }), template({ items: [] }), error];
}
