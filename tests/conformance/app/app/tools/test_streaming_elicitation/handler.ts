export default function () {
  return "Nothing had to be asked.";
}
