export default function () {
  return "refreshed";
}
