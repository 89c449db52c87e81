import qs from "qs";

export default function () {
  return [
    qs.parse("a[b][c]=1&a[b][d]=2&l[]=x&l[]=y&e=%C3%A4+b&n"), qs.parse("?a.b=1&c=2,3", { ignoreQueryPrefix: true, allowDots: true, comma: true }), qs.stringify({ a: { b: [1, { c: "ä b" }] }, d: new Date(0), n: null, u: undefined }),
    qs.stringify({ a: [1, 2] }, { arrayFormat: "brackets", encode: false }), qs.stringify({ b: 1, a: 2 }, { sort: (x, y) => x.localeCompare(y), addQueryPrefix: true }), qs.parse("a=1;b=2", { delimiter: ";" }), qs.stringify({ x: "é" }, { charset: "iso-8859-1" }),
  ];
}
