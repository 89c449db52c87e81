export default async function ({ inputs }, ctx) {
  const main = ctx.db("main");
  const found = await main.query("SELECT email FROM people WHERE id = {p1:UInt64} OR email IN {p2:Array(String)} ORDER BY id", [inputs.id, inputs.names]);
  const refused = [];
  for (const [text, values] of [["SELECT 1 FORMAT TSV", []], ["SELECT {p1:Int8} AS v", [300]], ["SELECT {p1:Identifier}", ["people"]]]) {
    try {
      await main.query(text, values);
    } catch (error) {
      refused.push(error.message);
    }
  }
  try {
    await ctx.db("reader").query("INSERT INTO orders (id) VALUES (1)", []);
  } catch (error) {
    refused.push(error.message);
  }
  return { found, refused };
}
