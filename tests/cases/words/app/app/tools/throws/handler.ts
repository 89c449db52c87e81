export default async ({ inputs }: any, ctx: any) => {
  const { SHOWN_WORD, PASSWORD } = ctx.env;
  if (inputs.how === "word") throw new Error(`the ${SHOWN_WORD} and STATEMENTS`);
  if (inputs.how === "capitals") throw new Error(`no ${PASSWORD.toUpperCase()}!`);
  if (inputs.how === "marks") throw new Error(`no ${PASSWORD.normalize("NFD")}!`);
  const told = await ctx.db("db").query("SELECT * FROM nothing").catch((error: Error) => error.message);
  throw new Error(`${told} (${SHOWN_WORD})`);
};
