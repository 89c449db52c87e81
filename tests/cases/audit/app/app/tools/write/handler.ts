import { toolError } from "millrace";

export default async ({ inputs }, ctx) => {
  await ctx.db("main").query("INSERT INTO notes (id, email) VALUES (?1, ?2)", [inputs.id, inputs.email]);
  if (inputs.fail) return toolError("TOO_LATE", { message: "It failed after it." });
  return { added: 1, email: inputs.email };
};
