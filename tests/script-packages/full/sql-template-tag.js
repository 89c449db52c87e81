import sql, { bulk, empty, join, raw } from "sql-template-tag";

export default function () {
  const ids = [1, 2, 3];
  const query = sql`SELECT * FROM ${raw("books")} WHERE id IN (${join(ids)}) ${false ? sql`x` : empty} AND name = ${"é"}`;
  const error = (() => { try { join([]); } catch (caught) { return caught.message; } })();
  return [query.sql, query.text, query.statement, query.values, sql`INSERT INTO t (a, b) VALUES ${bulk([[1, "x"], [2, "y"]])}`.text, query.inspect(), error];
}
