import * as he from "he-latest";

export default function () {
  return [he.encode("<b>ä & 💩</b>"), he.encode("é ©", { useNamedReferences: true }), he.escape("<'\">"), he.decode("&lt;&copy;&#x1F600;&nosuch;")];
}
