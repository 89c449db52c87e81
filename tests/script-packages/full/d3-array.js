import * as d3 from "d3-array";

export default function () {
  const rows = [{ k: "a", v: 1 }, { k: "b", v: 5 }, { k: "a", v: 3 }];
  return [d3.mean([1, 2, NaN, 3]), d3.rollups(rows, list => d3.sum(list, row => row.v), row => row.k), d3.extent([3, 1, 2]), d3.quantile([1, 2, 3, 4], 0.3), d3.bin().thresholds(3)([1, 2, 3, 4, 10]).map(list => list.length), d3.ticks(0, 1, 5), d3.bisectLeft([1, 3, 5], 4), d3.index(rows.slice(0, 2), row => row.k).get("b"), d3.cross([1, 2], ["x"]), d3.deviation([1, 2, 3, 4]), d3.fsum([0.1, 0.2, 0.3]), d3.sort(["é", "a", "z"]), d3.flatGroup(rows, row => row.k).length, [...d3.union([1], [2])]];
}
