import * as R from "remeda";

export default function () {
  const people = [{ n: "b", a: 2 }, { n: "é", a: 1 }, { n: "a", a: 2 }];
  return [R.pipe(people, R.filter(p => p.a > 1), R.sortBy(R.prop("n")), R.map(R.prop("n"))), R.groupBy(people, p => String(p.a)), R.mergeDeep({ a: { b: 1 } }, { a: { c: 2 } }), R.chunk([1, 2, 3], 2), R.pipe([1, 2, 3, 4], R.map(n => n * 2), R.take(2)), R.toCamelCase("foo bar-baz"), R.isDeepEqual({ a: [1] }, { a: [1] }), R.pick({ a: 1, b: 2 }, ["a"]), R.stringToPath("a.b[0]"), R.sumBy(people, p => p.a), R.clamp(11, { max: 10 }), R.uniqueBy(people, p => p.a).length, R.partition([1, 2, 3], n => n > 1), R.setPath({ a: { b: 1 } }, ["a", "b"], 2)];
}
