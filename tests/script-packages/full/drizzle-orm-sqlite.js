import { eq, sql } from "drizzle-orm";
import { integer, QueryBuilder, SQLiteSyncDialect, sqliteTable, text } from "drizzle-orm/sqlite-core";

const notes = sqliteTable("notes", { id: integer("id").primaryKey({ autoIncrement: true }), body: text("body"), at: integer("at", { mode: "timestamp" }) });

export default function () {
  const dialect = new SQLiteSyncDialect();
  const query = dialect.sqlToQuery(sql`select ${1} + ${sql.raw("2")} from ${notes} where ${notes.body} = ${"y"}`);
  return [query.sql, query.params, new QueryBuilder().select({ id: notes.id }).from(notes).where(eq(notes.at, new Date(0))).toSQL()];
}
