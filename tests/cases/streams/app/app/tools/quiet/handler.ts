export default async function () {
  console.error("for the operator alone");
  await new Promise((go) => setTimeout(go, 5));
  return "quiet";
}
