import { Marked, marked } from "marked";

export default function () {
  const own = new Marked({ gfm: true, breaks: true });
  own.use({ renderer: { heading: ({ tokens, depth }) => `<h${depth} id="x">${tokens.map(token => token.text).join("")}</h${depth}>` } });
  return [
    marked.parse("# Hí\n\n- [x] done\n- [ ] *open* ~~gone~~\n\n| a | b |\n|--|:-:|\n| 1 | 2 |\n\n```js\na < b\n```\n<https://example.com> &copy; \"q\""),
    own.parse("## T **b**\nline\nbreak"), marked.lexer("> q\n\n1. a\n2. b").map(token => token.type), marked.parseInline("a **b** `c`"),
  ];
}
