import he from "he";

export default function () {
  return [
    he.encode("<b>ä & ö 💩</b>"), he.encode("foo © bar ≠", { useNamedReferences: true }), he.encode("é", { decimal: true }), he.escape("<img src='x' onerror=\"a\">"),
    he.decode("&lt;p&gt;&copy; &#x1F600; &notin; &ampx &nosuch;"), he.decode("foo&ampbar", { isAttributeValue: true }), he.version.split(".")[0],
  ];
}
