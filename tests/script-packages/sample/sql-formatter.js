import { format } from "sql-formatter";

export default function () {
  const caught = run => { try { return run(); } catch (error) { return error.message.split("\n")[0]; } };
  return [
    format("select a,b, count(*) from t join u on t.id=u.id where x='é' and (y=1 or z in (select 1)) group by a having count(*)>1 order by 1", { language: "postgresql", keywordCase: "upper" }), format("SELECT * FROM t WHERE a = :a AND b = ?", { language: "sqlite", tabWidth: 4 }),
    format("insert into t values ($1, $2) -- c\n", { language: "postgresql" }), caught(() => format("select (", { language: "mysql" })), format("select ?", { params: ["1"] }),
  ];
}
