import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from "kysely";

const db = new Kysely({ dialect: { createAdapter: () => new PostgresAdapter(), createDriver: () => new DummyDriver(), createIntrospector: db => new PostgresIntrospector(db), createQueryCompiler: () => new PostgresQueryCompiler() } });

export default function () {
  const queries = [
    db.selectFrom("person").innerJoin("pet", "pet.owner_id", "person.id").select(["person.id", "pet.name as pet"]).where("age", ">", 18).where(({ or, eb }) => or([eb("name", "=", "é"), eb("name", "in", ["a", "b"])])).orderBy("name", "desc").limit(5),
    db.insertInto("person").values([{ name: "a", age: 1 }, { name: "b", age: null }]).onConflict(conflict => conflict.column("name").doUpdateSet({ age: 2 })).returningAll(),
    db.updateTable("person").set({ age: sql`age + ${1}` }).where("id", "=", 7), db.deleteFrom("pet").where("id", "is", null),
    db.with("old", db => db.selectFrom("person").selectAll().where("age", ">", 60)).selectFrom("old").select(db.fn.countAll().as("n")),
    db.schema.createTable("t").addColumn("id", "serial", column => column.primaryKey()).addColumn("at", "timestamp", column => column.defaultTo(sql`now()`)),
  ];
  return queries.map(query => { const { sql, parameters } = query.compile(); return [sql, parameters]; });
}
