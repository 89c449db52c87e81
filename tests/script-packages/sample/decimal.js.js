import Decimal from "decimal.js";

export default function () {
  const big = Decimal.clone({ precision: 50 });
  const error = (() => { try { new Decimal("1..2"); } catch (caught) { return caught.message; } })();
  return [
    new Decimal("0.1").plus("0.2").toString(), big.sqrt(2).toString(), new Decimal("1e500").toString(), big.exp(1).toFixed(40), new Decimal("0xff.8").toString(),
    new Decimal(12345.6789).toSD(6).toString(), new Decimal("-3.5").round().toString(), Decimal.max(1, "2.5", -3).toNumber(), new Decimal(0.75).toFraction().map(String),
    new big(3).pow("0.5").toString(), new Decimal("NaN").isNaN(), error, Decimal.atan2(1, 2).toString(), new Decimal(255).toHex(), big.ln(10).toString(),
  ];
}
