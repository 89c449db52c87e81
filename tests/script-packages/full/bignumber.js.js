import BigNumber from "bignumber.js";

export default function () {
  const Exact = BigNumber.clone({ DECIMAL_PLACES: 40, ROUNDING_MODE: BigNumber.ROUND_HALF_EVEN });
  return [
    new BigNumber("1e30").plus(1).toFixed(), new Exact(2).sqrt().toString(), new BigNumber("123456.789").toFormat(2), new BigNumber(255).toString(16), new BigNumber("0x1f").toNumber(), new Exact(1).div(3).toString(), new BigNumber("1.5").pow(100).toString(), new BigNumber(3).pow(200, 1000007).toString(), (() => { try { return new BigNumber("abc").isNaN(); } catch (error) { return error.message; } })(), BigNumber.max(1, "2.5").toString(), new BigNumber(0.1).toFraction().map(String), new BigNumber("-0").toString(), JSON.stringify({ b: new BigNumber("12345678901234567890.5") }),
  ];
}
