import knex from "knex";

export default function () {
  const db = knex({ client: "pg" });
  return [
    db("t").where({ a: 1 }).orWhere("b", ">", "x").orderBy("c", "desc").limit(3).toString(), db("t").insert([{ a: 1, b: null }, { a: 2, b: "it's" }]).returning("*").toString(), db("t").join("u", "u.id", "t.u").groupBy("u.id").count("* as n").select("u.id").toSQL().toNative(),
    db("t").whereIn("a", [1, 2]).update({ at: db.raw("now()") }).toString(), db.schema.createTable("x", table => { table.increments("id"); table.string("name", 40).notNullable(); }).toString(),
  ];
}
