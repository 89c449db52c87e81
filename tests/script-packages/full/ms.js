import ms from "ms";

export default function () {
  return [["2 days", "1d", "10h", "2.5 hrs", "-3 min", "1y", "100", "nonsense"].map(text => { const value = ms(text); return Number.isNaN(value) || value === undefined ? "none" : value; }), ms(60000), ms(2 * 60000, { long: true }), ms(-3 * 3600000), (() => { try { ms(""); } catch (error) { return error.message.split("\n")[0]; } })()];
}
