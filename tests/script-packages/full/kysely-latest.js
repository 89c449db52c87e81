import { DummyDriver, Kysely, sql, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely-latest";

export default function () {
  const db = new Kysely({ dialect: { createAdapter: () => new SqliteAdapter(), createDriver: () => new DummyDriver(), createIntrospector: db => new SqliteIntrospector(db), createQueryCompiler: () => new SqliteQueryCompiler() } });
  return [db.selectFrom("p").select(["id", sql`upper(name)`.as("n")]).where("a", ">", 1).compile(), db.insertInto("p").values({ name: "é" }).returning("id").compile()].map(({ sql, parameters }) => [sql, parameters]);
}
