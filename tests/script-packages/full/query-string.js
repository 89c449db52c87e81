import queryString from "query-string";

export default function () {
  return [
    queryString.parse("?foo=bar&a=1&a=2&e=%C3%A4%20b&n", { parseNumbers: true }), queryString.stringify({ b: "ä b", a: [1, null, "x"], u: undefined }), queryString.stringify({ l: [1, 2] }, { arrayFormat: "bracket" }),
    queryString.parseUrl("https://x.y/?a=1#frag", { parseFragmentIdentifier: true }), queryString.stringifyUrl({ url: "https://x.y/?a=1", query: { b: 2 } }), queryString.exclude("https://x.y/?a=1&b=2", ["a"]), queryString.parse("l=1,2", { arrayFormat: "comma" }),
  ];
}
