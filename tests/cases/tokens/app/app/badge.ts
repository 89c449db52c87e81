// Knows badges, and nothing else.
export default ({ headers }: any) => {
  if (headers["x-badge"] === "b1") return { subject: "badge" };
  if (headers["x-badge"]) throw new Error("there is no such badge");
};
