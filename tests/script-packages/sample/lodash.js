import _ from "lodash";

export default function () {
  const people = [{ n: "b", a: 2, t: ["x"] }, { n: "á", a: 1, t: [] }, { n: "a", a: 2, t: ["y", "z"] }];
  return [
    _.groupBy(people, "a"), _.orderBy(people, ["a", "n"], ["desc", "asc"]).map(p => p.n), _.deburr("déjà vu"), _.words("fooBar 12 ünï"), _.cloneDeep({ a: new Map([[1, new Date(0)]]) }).a.get(1),
    _.get({ a: [{ b: 3 }] }, "a[0].b"), _.merge({ a: { x: 1 }, l: [1, 2] }, { a: { y: 2 }, l: [3] }), _.template("Hi <%- name %><% for (const x of xs) { %> <%= x %><% } %>")({ name: "<b>", xs: [1, 2] }),
    _.chain(people).filter({ a: 2 }).flatMap("t").uniq().value(), _.isEqual(new Set([1]), new Set([1])), _.startCase("--foo-bar__é"), _.truncate("a long sentence here", { length: 10 }), _.range(0, 1, 0.25),
    _.debounce.length, _.memoize(x => x * 2)(4), _.padStart("7", 3, "0"), _.set({}, "a.b[0]", 5), _.sumBy(people, "a"), _.partition([1, 2, 3], n => n % 2),
  ];
}
