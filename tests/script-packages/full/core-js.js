import "core-js/actual/array/group-by.js";
import "core-js/actual/iterator/index.js";
import "core-js/full/string/code-points.js";
import structuredClone from "core-js-pure/actual/structured-clone.js";

export default function () {
  return [typeof [].flat, [1, 2, 3].groupBy?.(n => n % 2), [...Iterator.from([1, 2, 3]).map(n => n * 2).take(2)], [..."a👋"].length, structuredClone({ d: new Date(0) })];
}
