export default function () {
  throw new Error("out of luck");
}
