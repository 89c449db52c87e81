export default function () {
  throw new Error("This tool intentionally returns an error for testing");
}
