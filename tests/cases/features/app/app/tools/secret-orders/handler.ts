export default function () {
  return ["one", "two"];
}
