export default function () {
  return "This is a simple text response for testing.";
}
