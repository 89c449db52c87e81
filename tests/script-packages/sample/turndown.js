import TurndownService from "turndown";

export default function () {
  const service = new TurndownService({ headingStyle: "atx", bulletListMarker: "-", codeBlockStyle: "fenced", emDelimiter: "*" });
  service.addRule("del", { filter: ["del"], replacement: content => `~~${content}~~` });
  return service.turndown("<h1>Hí &amp; you</h1><p>A <strong>bold</strong> <em>x</em> <a href='https://example.com' title='t'>link</a><br>next <del>gone</del></p><ul><li>x<ol><li>y</li></ol></li></ul><pre><code class='language-js'>a &lt; 1\n</code></pre><blockquote><p>q *not* _em_</p></blockquote><img src='a.png' alt='A'>");
}
