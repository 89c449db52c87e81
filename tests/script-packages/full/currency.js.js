import currency from "currency.js";

export default function () {
  const euro = value => currency(value, { symbol: "€", separator: ".", decimal: ",", precision: 2, pattern: "# !" });
  return [currency(1234.5).add("1.235").format(), euro("1.234,56").multiply(3).format(), currency(100).distribute(3).map(String), currency("$-1,234.567").value, currency(0.1).add(0.2).intValue, currency(5.005).toJSON(), euro(-7).format(true)];
}
