export default function () {
  return missing();
}
function missing() {
  throw new Error("ünder repair");
}
