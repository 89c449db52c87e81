import type { Context } from "millrace";

export default async ({ inputs }: { inputs: { q: string } }, ctx: Context) => {
  const main = ctx.db("main");
  await main.query("SET $1 $2", ["scripted a", inputs.q]);
  const found = await main.query("GET 'scripted a'", []);
  const several = await main.query("MGET $1 plain", [["scripted a", "nothing"]]);
  const numbers = await main.query("RPUSH scripted $1 $2 $3 $4 '$1'", [7, 1.5, true, { a: [inputs.q] }]);
  const listed = await main.query("LRANGE scripted 0 -1", []);
  const refused: string[] = [];
  const attempts: [string, string, unknown[]][] = [
    ["main", "FLUSHALL", []],
    ["main", "KEYS *", []],
    ["main", "EVAL $1 0", [inputs.q]],
    ["main", "$1", ["FLUSHDB"]],
    ["main", "SELECT 1", []],
    ["main", "MULTI", []],
    ["main", "SUBSCRIBE c", []],
    ["main", "BLPOP plain 0", []],
    ["main", "XREAD BLOCK 0 STREAMS events $", []],
    ["main", "HELLO 2", []],
    ["main", "AUTH x", []],
    ["main", "CLIENT REPLY OFF", []],
    ["main", "FT.SEARCH i q", []],
    ["main", "GET user:$1", [inputs.q]],
    ["main", "GET $2", [inputs.q]],
    ["main", "GET $1", [null]],
    ["main", "DEL $1", [[]]],
    ["main", "GET \"x", []],
    ["open", "CONFIG SET maxmemory 1", []],
    ["reader", "SET plain $1", [inputs.q]],
    ["reader", "GETDEL plain", []],
  ];
  for (const [adapter, command, values] of attempts) {
    try {
      await ctx.db(adapter).query(command, values);
      refused.push(`${command} was run`);
    } catch (error) {
      refused.push(`${command}: ${(error as Error).message}`);
    }
  }
  const unharmed = await main.query("GET plain", []);
  return { found, several, numbers, listed, refused, unharmed };
};
