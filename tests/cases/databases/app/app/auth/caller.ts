import { error } from "millrace";

export default async ({ headers }, ctx) => {
  const org = headers["x-org"];
  if (org === undefined) return error("nobody");
  // Before there is a caller there is no database.
  if (org === "early") return ctx.db("main").query("SELECT 1");
  return { subject: "u", claims: { org: JSON.parse(org) } };
};
