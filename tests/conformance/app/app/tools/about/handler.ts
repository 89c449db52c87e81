export default function () {
  return "Fixtures of the conformance suite.";
}
