export default function ({ headers, tool }) {
  // A list is about no tool.
  if (tool !== null && tool !== "staff-hours") throw new Error("not this tool");
  if (headers["x-staff"] === "broken") return 7;
  if (headers["x-staff"] === undefined) throw new Error("nobody");
  return { subject: headers["x-staff"], scopes: ["staff"] };
}
