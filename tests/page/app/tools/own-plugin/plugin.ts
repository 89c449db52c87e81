export default ({ headers }) => {
  if (headers["x-caller"] !== "ann") throw new Error("no");
  return { subject: "ann" };
};
