import { IntlMessageFormat } from "intl-messageformat";

export default function () {
  const format = (text, values) => new IntlMessageFormat(text, "en").format(values);
  return [format("{n, plural, =0 {none} one {# item} other {# items}}", { n: 2 }), format("{g, select, male {He} other {They}} paid {n, number, ::currency/EUR}", { g: "x", n: 1234.5 }), format("{d, date, long}", { d: new Date(0) }), format("{n, selectordinal, one {#st} two {#nd} other {#th}}", { n: 22 }), format("<b>{name}</b>", { name: "é", b: parts => `*${parts.join("")}*` }), (() => { try { format("{x", {}); } catch (error) { return error.message; } })()];
}
