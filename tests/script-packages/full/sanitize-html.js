import sanitize from "sanitize-html";

export default function () {
  const dirty = "<p style='color:red;position:fixed' onclick='x()'>Ä <b>b</b><script>alert(1)</script><a href='javascript:x' target=_blank>l</a><img src=x onerror=y><iframe src='https://e.vil'></iframe></p>";
  return [sanitize(dirty), sanitize(dirty, { allowedTags: ["p", "a"], allowedAttributes: { p: ["style"], a: ["href"] }, allowedStyles: { "*": { color: [/^red$/] } } }), sanitize("<ol><li>x</ol>", { transformTags: { ol: "ul" } }), sanitize("a & <b", { allowedTags: [] }), sanitize("<b>x</b><u>y</u>", { allowedTags: ["b"], disallowedTagsMode: "escape" })];
}
