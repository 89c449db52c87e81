import { create, addDependencies, evaluateDependencies, meanDependencies, powDependencies, sqrtDependencies, stdDependencies } from "mathjs/number";

const math = create({ addDependencies, evaluateDependencies, meanDependencies, powDependencies, sqrtDependencies, stdDependencies });

export default function () {
  const error = (() => { try { math.evaluate("2 +"); } catch (caught) { return caught.message; } })();
  return [math.add(1, 2), math.mean([1, 2, 3]), math.std([1, 2, 3, 4]), math.evaluate("sqrt(3^2 + 4^2)"), math.evaluate("f(x) = x^2; f(3)").entries, error];
}
