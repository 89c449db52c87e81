import * as R from "ramda";

export default function () {
  const people = [{ n: "b", a: 2, t: { x: 1 } }, { n: "é", a: 1, t: {} }, { n: "a", a: 2, t: {} }];
  const byAge = R.sortWith([R.descend(R.prop("a")), R.ascend(R.prop("n"))]);
  return [
    R.pipe(byAge, R.map(R.prop("n")))(people), R.groupBy(R.compose(String, R.prop("a")), people), R.over(R.lensPath(["t", "x"]), R.add(1), people[0]), R.mergeDeepRight({ a: { b: 1 } }, { a: { c: 2 } }), R.transpose([[1, 2], [3, 4]]), R.evolve({ a: R.inc })(people[1]),
    R.curry((a, b, c) => a + b + c)(1)(R.__, 3)(2), R.equals(new Map([[1, [2]]]), new Map([[1, [2]]])), R.toString([1, "x", new Date(0)]), R.splitEvery(2, "abcde"), R.countBy(R.toLower)(["A", "a", "b"]), R.zipWith((a, b) => a * b, [1, 2], [3, 4]), R.type(/x/),
  ];
}
