import Big from "big.js";

export default function () {
  Big.DP = 30;
  const error = (() => { try { new Big("12x"); } catch (caught) { return String(caught); } })();
  return [
    new Big("0.1").plus("0.2").toString(), new Big(1).div(3).toString(), new Big(2).sqrt().toFixed(25), new Big("1e21").toString(),
    new Big("123456789012345678901234567890").times("98765432109876543210").toFixed(), new Big("-7").mod(3).toNumber(),
    new Big("1.005").round(2, Big.roundHalfEven).toString(), JSON.stringify({ b: new Big("9.50") }), error, new Big(5).cmp("5.0"),
  ];
}
