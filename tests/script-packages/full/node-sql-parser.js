import sql from "node-sql-parser";

export default function () {
  const parser = new sql.Parser();
  const tree = parser.astify("SELECT a, COUNT(*) AS n FROM t LEFT JOIN u ON t.id = u.id WHERE b > 1 AND c LIKE 'é%' GROUP BY a");
  const caught = (() => { try { parser.astify("SELEC 1"); } catch (error) { return error.name; } })();
  return [parser.sqlify(tree), parser.tableList("select * from x.y join z", { database: "Postgresql" }), parser.columnList("update t set a = 1"), tree.where.operator, caught];
}
