import { Eta } from "eta";

export default function () {
  const eta = new Eta({ autoTrim: [false, "nl"] });
  eta.loadTemplate("@item", "[<%= it.n %>]");
  const caught = (() => { try { eta.renderString("<% if ( %>", {}); } catch (error) { return error.name; } })();
  return [eta.renderString("Hi <%= it.name %> <%~ it.raw %> <% for (const n of it.list) { %><%~ include('@item', { n }) %><% } %>", { name: "<Ä>", raw: "<b>", list: [1, 2] }), caught];
}
