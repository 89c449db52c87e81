import equal from "fast-deep-equal";
import es6 from "fast-deep-equal/es6/index.js";

export default function () {
  return [
    equal({ a: [1, { b: NaN }], d: new Date(0), r: /x/g }, { a: [1, { b: NaN }], d: new Date(0), r: /x/g }), equal([1, 2], [2, 1]), equal({ a: undefined }, {}), equal(null, undefined),
    es6(new Map([["a", new Set([1])]]), new Map([["a", new Set([1])]])), es6(new Uint8Array([1, 2]), new Uint8Array([1, 3])), es6(10n, 10n),
  ];
}
