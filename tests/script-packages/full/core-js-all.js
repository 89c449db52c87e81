import "core-js/actual/index.js";

export default function () {
  return [Object.groupBy([1, 2, 3], n => (n % 2 ? "odd" : "even")), Array.fromAsync.length, [3, 1, 2].toSorted(), "x".isWellFormed(), Promise.withResolvers.length, new Set([1, 2]).union(new Set([3])).size, structuredClone(new Map([[1, 2]])).get(1)];
}
