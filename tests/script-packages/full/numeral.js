import numeral from "numeral";

export default function () {
  return [["0,0.00", "$0,0", "0.0a", "0o", "0%", "0.00e+0", "00:00:00", "0.0b", "(0,0)"].map(format => numeral(-1234567.891).format(format)), numeral("1,000.5").value(), numeral(1000).add(0.1).multiply(3).value(), numeral(974).format("0o"), numeral(null).format("0,0"), numeral("75%").value()];
}
