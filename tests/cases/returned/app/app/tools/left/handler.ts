import { toolError } from "millrace";
const kinds: Record<string, (db: any) => unknown> = {
  query: (db) => { db.query("SELECT 1"); return "done"; },
  // A database over a network answers the first of them after the second began: several after one another end after it.
  failed: async (db) => { db.query("SELECT nope"); for (let i = 0; i < 9; i++) await db.query("SELECT 1"); return "done"; },
  finished: async (db) => { db.query("SELECT 1"); await db.query("SELECT 2"); await new Promise((resolve) => setTimeout(resolve, 5)); return "done"; },
  function: (db) => { const save = async () => { await db.query("SELECT 1"); }; save(); return "done"; },
  each: (db) => { [1, 2].forEach(async (n) => { await db.query("SELECT ?1", [n]); }); return "done"; },
  then: (db) => { db.query("SELECT 1").then(() => "done"); return "done"; },
  failure: (db) => { db.query("SELECT 1"); return toolError("GONE"); },
  rejected: () => { Promise.reject(new Error("lost")); return "done"; },
  thrower: () => { (async () => { throw new Error("lost"); })(); return "done"; },
  // These are fine.
  all: async (db) => (await Promise.all([db.query("SELECT 1 AS n"), db.query("SELECT 2 AS n")])).flat(),
  caught: async (db) => { const pending = db.query("SELECT nope").catch(() => "caught"); return await pending; },
  returned: (db) => db.query("SELECT 1 AS n"),
  race: async (db) => { await Promise.race([db.query("SELECT 1 AS n"), db.query("SELECT 1 AS n")]); return "done"; },
};
export default ({ inputs }: any, ctx: any) => kinds[inputs.kind](ctx.db("main"));
