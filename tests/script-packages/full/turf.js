import * as turf from "@turf/turf";

export default function () {
  const square = turf.polygon([[[0, 0], [0, 2], [2, 2], [2, 0], [0, 0]]], { name: "é" });
  const caught = (() => { try { turf.polygon([[[0, 0], [1, 1]]]); } catch (error) { return error.message; } })();
  return [
    turf.area(square), turf.distance([0, 0], [1, 1]), turf.bbox(square), turf.centroid(square).geometry, turf.booleanPointInPolygon([1, 1], square), turf.union(turf.featureCollection([square, turf.polygon([[[1, 1], [1, 3], [3, 3], [3, 1], [1, 1]]])])).geometry.coordinates, turf.buffer(turf.point([0, 0]), 1, { steps: 4 }).geometry.coordinates[0].length,
    turf.simplify(turf.lineString([[0, 0], [1, 0.001], [2, 0]]), { tolerance: 0.1 }).geometry.coordinates, turf.length(turf.lineString([[0, 0], [1, 1]])), turf.bearing([0, 0], [1, 1]), caught,
  ];
}
