import { bignumber, chain, complex, derivative, det, evaluate, format, fraction, inv, matrix, multiply, parse, simplify, unit } from "mathjs";

export default function () {
  return [
    evaluate("2 + 3 * 4 ^ 2"), evaluate("12.7 cm to inch").toString(), format(multiply(matrix([[1, 2], [3, 4]]), [5, 6])), det([[1, 2], [3, 4]]), complex(2, 3).toString(), derivative("x^2 + 2x", "x").toString(),
    String(fraction(1, 3)), format(bignumber("0.1").plus("0.2")), simplify("2x + 3x").toString(), unit("5 km").toNumber("m"), chain(3).add(4).multiply(2).done(), parse("a + b").evaluate({ a: 1, b: 2 }),
  ];
}
