import { MAX, NIL, parse, stringify, v1, v3, v4, v5, v6, v7, validate, version } from "uuid";

export default function () {
  const random = Uint8Array.from({ length: 16 }, (_, i) => i);
  const error = (() => { try { parse("nope"); } catch (caught) { return [caught.name, caught.message]; } })();
  return [validate(v4()), version(v7()), v5("hellö", v5.URL), v3("hello", v3.DNS), v4({ random }), v7({ random, msecs: 1700000000000, seq: 1 }), v1({ random, msecs: 1700000000000, nsecs: 5, clockseq: 7, node: random.subarray(0, 6) }), v6({ random, msecs: 1700000000000, nsecs: 5, clockseq: 7, node: random.subarray(0, 6) }), [...parse(MAX)].length, stringify(random), NIL, error];
}
