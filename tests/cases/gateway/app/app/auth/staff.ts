export default function ({ headers }) {
  if (headers["x-staff"] !== "yes") throw new Error("not staff");
  return { subject: "staff" };
}
