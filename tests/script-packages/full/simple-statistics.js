import * as stats from "simple-statistics";

export default function () {
  const list = [1, 2, 3, 4, 10];
  return [stats.standardDeviation(list), stats.median(list), stats.linearRegression([[0, 1], [1, 3], [2, 5]]), stats.linearRegressionLine({ m: 2, b: 1 })(7), stats.sampleCorrelation([1, 2, 3], [2, 4, 7]), stats.quantile(list, [0.25, 0.75]), stats.mode([1, 1, 2]), stats.zScore(5, 4, 2), stats.ckmeans([1, 2, 10, 11, 50], 3), stats.interquartileRange(list), stats.tTest(list, 3), stats.geometricMean(list), (() => { try { stats.mean([]); } catch (error) { return error.message; } })()];
}
