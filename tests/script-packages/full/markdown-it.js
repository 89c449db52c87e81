import MarkdownIt from "markdown-it";

export default function () {
  const md = new MarkdownIt({ html: false, linkify: true, typographer: true, highlight: (text, language) => `<pre class="${language}">${text.trim()}</pre>` });
  md.renderer.rules.strong_open = () => "<b>";
  md.renderer.rules.strong_close = () => "</b>";
  return [md.render("# Hí\n\n1. a\n2. **b** https://example.com/ä?q=1\n\n```js\nx < 1\n```\n\n| a | b |\n|---|:-:|\n| 1 | `2` |\n\n> \"quoted\" -- (c) <script>\n"), md.renderInline("*a* ~~b~~ [c](<x y>)"), md.parse("- x", {}).length];
}
