import { filter, groupBy, map, mergeDeep, path, pipe, sortBy, split } from "rambda";
import * as R from "rambda";

export default function () {
  const people = [{ n: "b", a: 2 }, { n: "é", a: 1 }];
  return [pipe([1, 2, 3], filter(x => x > 1), map(x => x * 10)), groupBy(x => String(x.a))(people), sortBy(x => x.a)(people), path(["a", "b"])({ a: { b: 1 } }), split(",")("x,y"), typeof mergeDeep, R.equals({ a: [1] })({ a: [1] }), R.uniq([1, 1, 2]), R.type(async () => {}), R.range(5)];
}
