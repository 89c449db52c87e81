//! The rights of many forms of statements, on real servers: a role that has what the walk finds may
//! carry each out, and no role with less.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use millrace_bundler::statement::{Columns, Dialect, Known, KnownTable, Named, Privilege, rights::rights};
use millrace_core::{ErrorKind, value::Value};
use millrace_tests::{
    clickhouse,
    database::{Database, connection},
    local::binary,
    mysql::Mysql,
    postgres::{Postgres, psql},
};
use serde_json::Value as Json;

/// The tables of both servers, and their columns.
const TABLES: [(&str, &[&str]); 2] = [("t", &["id", "a", "b", "c", "n", "up"]), ("u", &["id", "t_id", "x", "y"])];
/// Tries a statement as the role `app` with some rights, and leaves everything as it was: what
/// became of it, as the server's code.
const TRIAL: &str = "CREATE FUNCTION trial(grants text[], statement text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE one text; found text; BEGIN \
    BEGIN FOREACH one IN ARRAY grants LOOP EXECUTE one; END LOOP; EXECUTE 'SET LOCAL ROLE app'; EXECUTE statement; RAISE SQLSTATE 'ZZ000'; \
    EXCEPTION WHEN OTHERS THEN found := SQLSTATE || ' ' || SQLERRM; END; RETURN found; END $$;";
/// A right that MySQL wants as its manual says, and MariaDB does not ask for: what is set after
/// `ON DUPLICATE KEY` and not inserted.
const NOT_ASKED_FOR: (&str, &str) = ("INSERT INTO t (id, b) VALUES (1, 2) ON DUPLICATE KEY UPDATE c = n + 1", "UPDATE (c) ON t");
/// What [`TRIAL`] says of a statement that was carried out.
pub(crate) const DONE: &str = "ZZ000";

pub(crate) fn known(is_mariadb: bool) -> Known {
    let table = |(name, columns): (&str, &[&str])| {
        let columns: BTreeSet<String> = columns.iter().map(|&column| column.to_owned()).collect();
        let constraints = [("t_key".to_owned(), ["a", "b"].map(str::to_owned).into())].into();
        (
            Named { schema: None, name: name.to_owned() },
            KnownTable { schema: "public".to_owned(), columns, any: None, constraints, kinds: BTreeMap::new() },
        )
    };
    Known { tables: TABLES.into_iter().map(table).collect(), is_mariadb }
}

/// What a statement needs, right by right.
pub(crate) fn grants(text: &str, dialect: Dialect, known: &Known) -> Vec<String> {
    let found = rights(text, dialect, known);
    assert!(found.unclear.is_empty() && found.widened.is_empty() && found.functions.is_empty(), "{text}: {found:?}");
    let mut grants = Vec::new();
    for ((table, privilege), Columns { all, names }) in &found.tables {
        let word = privilege.word(dialect);
        if *all {
            grants.push(format!("{word} ON {table}"));
        } else if names.is_empty() {
            grants.push(format!("{word} (id) ON {table}"));
        }
        // ClickHouse has columns that are parts of others, with dots in their names.
        let quote = if dialect == Dialect::ClickHouse { "`" } else { "" };
        grants.extend(names.iter().filter(|_| !all).map(|column| format!("{word} ({quote}{column}{quote}) ON {table}")));
    }
    grants.extend(found.server.iter().map(|(right, on)| format!("{right} ON {on}")));
    grants.extend(
        found
            .sequences
            .iter()
            .map(|(sequence, privilege): &(Named, Privilege)| format!("{} ON SEQUENCE {sequence}", privilege.word(dialect))),
    );
    grants
}

/// A PostgreSQL server that tries statements as a role with some rights.
pub(crate) struct PostgresTrials {
    _server: Postgres,
    database: Database,
}

impl PostgresTrials {
    pub(crate) fn start() -> Self {
        let server = Postgres::start(&[]);
        let sql = "CREATE TABLE t (id int PRIMARY KEY, a int UNIQUE, b int, c int, n int, up int, CONSTRAINT t_key UNIQUE (a, b));\n\
             CREATE TABLE u (id int PRIMARY KEY, t_id int, x int, y int);\nCREATE SEQUENCE ids;\n\
             INSERT INTO t VALUES (1, 1, 1, 1, 1, 1);\nINSERT INTO u VALUES (1, 1, 1, 1);\nCREATE ROLE app;\n";
        psql(&server.url("postgres"), &format!("{sql}{TRIAL}"));
        let database = server.open();
        Self { _server: server, database }
    }

    /// What became of a statement, as the server's code and message.
    pub(crate) fn trial(&self, grants: &[String], text: &str) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let grants: Vec<String> = grants.iter().map(|grant| quoted(&format!("GRANT {grant} TO app"))).collect();
        let rows = self.database.rows(&format!("SELECT trial(ARRAY[{}]::text[], {})", grants.join(", "), quoted(text)));
        match rows.first().and_then(|row| row.first()) {
            Some(Value::Text(found)) => found.clone(),
            other => panic!("{other:?}"),
        }
    }
}

/// A MariaDB server that does the same.
pub(crate) struct MariadbTrials {
    server: Mysql,
    database: Database,
}

impl MariadbTrials {
    pub(crate) fn start() -> Self {
        let server = Mysql::start(&[]);
        let tables = "CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int, n int, up int); CREATE TABLE u (id int PRIMARY KEY, t_id int, x int, y int);";
        server.run("shop", &format!("{tables} CREATE USER app@'%' IDENTIFIED BY 'app';"));
        // Without a table of its own, nobody may name the database.
        server.run("shop", "CREATE TABLE door (id int); GRANT SELECT ON door TO app@'%'");
        let database = Database::open(connection("mysql", &format!("mysql://app:app@127.0.0.1:{}/shop", server.port), &[]));
        Self { server, database }
    }

    /// What the server said of a statement that it did not carry out.
    pub(crate) fn trial(&self, grants: &[String], text: &str) -> Result<(), String> {
        let rows = "DELETE FROM t WHERE id > 1; REPLACE INTO t VALUES (1, 1, 1, 1, 1, 1); REPLACE INTO u VALUES (1, 1, 1, 1);";
        let grants: String = grants.iter().map(|grant| format!("GRANT {grant} TO app@'%';")).collect();
        let anew = "REVOKE ALL, GRANT OPTION FROM app@'%'; GRANT SELECT ON door TO app@'%';";
        self.server.run("shop", &format!("{rows} {anew} {grants}"));
        self.database.run(text, &[]).map(drop).map_err(|error| error.source.clone().unwrap_or_else(|| error.message.clone()))
    }
}

#[test]
fn postgresql_wants_exactly_these_rights() {
    let server = PostgresTrials::start();
    let trial = |grants: &[String], text: &str| server.trial(grants, text);
    let forms = [
        "SELECT a, b FROM t",
        "SELECT * FROM t",
        "SELECT x.* FROM t AS x",
        "SELECT count(*) FROM t",
        "SELECT count(*) FROM t WHERE a = 1",
        "SELECT count(x.*) FROM t x",
        "SELECT x FROM t x",
        "SELECT to_jsonb(x) FROM t x",
        "SELECT A FROM T",
        "SELECT t.a AS x FROM t ORDER BY x",
        "SELECT a AS x FROM t ORDER BY b DESC, abs(c)",
        "SELECT a, sum(b) AS total FROM t GROUP BY a HAVING sum(c) > 1 ORDER BY total",
        "SELECT a % 2 AS odd, count(*) FROM t GROUP BY odd",
        "SELECT DISTINCT ON (a) b FROM t ORDER BY a",
        "SELECT a, row_number() OVER (PARTITION BY b ORDER BY c) FROM t",
        "SELECT a, sum(b) OVER w FROM t WINDOW w AS (PARTITION BY c)",
        "SELECT sum(a) FILTER (WHERE b > 1) FROM t",
        "SELECT string_agg(a::text, ',' ORDER BY b) FROM t",
        "SELECT CASE WHEN a > 1 THEN b END, c::text FROM t x",
        "SELECT t.a, u.x FROM t JOIN u ON u.t_id = t.id",
        "SELECT a, x FROM t JOIN u ON t_id = t.id",
        "SELECT t.a, u.x FROM t LEFT JOIN u USING (id)",
        "SELECT id FROM t JOIN u USING (id)",
        "SELECT 1 FROM t CROSS JOIN u",
        "SELECT a FROM t WHERE id IN (SELECT t_id FROM u WHERE x = c)",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)",
        "SELECT a FROM t WHERE EXISTS (SELECT * FROM u WHERE t_id = b)",
        "SELECT (SELECT max(x) FROM u WHERE t_id = t.id) FROM t",
        "SELECT x.a FROM (SELECT a, b FROM t) x WHERE x.b = 1",
        "SELECT k.n FROM t CROSS JOIN LATERAL (SELECT count(*) AS n FROM u WHERE u.t_id = t.id) k",
        "SELECT a FROM t UNION ALL SELECT x FROM u ORDER BY a",
        "(SELECT a FROM t ORDER BY b LIMIT 1) UNION (SELECT x FROM u)",
        "WITH k AS (SELECT a FROM t) SELECT a FROM k",
        "WITH t AS (SELECT a FROM t) SELECT a FROM t",
        "WITH RECURSIVE r (n) AS (SELECT p.id FROM t p UNION SELECT p.id FROM t p JOIN r ON p.up = r.n) SELECT n FROM r",
        "WITH gone AS (DELETE FROM t WHERE id = 1 RETURNING a) SELECT a FROM gone",
        "WITH made AS (INSERT INTO t (id) VALUES (7) RETURNING id) UPDATE u SET x = made.id FROM made WHERE u.id = made.id",
        "SELECT g.n, t.a FROM generate_series(1, 3) AS g (n) JOIN t ON t.id = g.n",
        "SELECT v FROM unnest(ARRAY[1, 2]) AS v",
        "SELECT a FROM t FOR UPDATE",
        "SELECT t.a FROM t JOIN u ON u.id = t.id FOR SHARE OF u SKIP LOCKED",
        "SELECT relname FROM pg_class LIMIT 1",
        "EXPLAIN SELECT a FROM t",
        "SELECT nextval('ids')",
        "SELECT setval('ids', 5)",
        "INSERT INTO t (id, a) VALUES (2, 2)",
        "INSERT INTO t (id, a) VALUES (2, DEFAULT) RETURNING id, b AS x",
        "INSERT INTO t (id) VALUES (2) RETURNING *",
        "INSERT INTO t (id, a) SELECT x + 9, y + 9 FROM u WHERE t_id = 1",
        "INSERT INTO t (id) VALUES ((SELECT max(id) + 1 FROM u))",
        "INSERT INTO t (id) VALUES (2) ON CONFLICT DO NOTHING",
        "INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO NOTHING",
        "INSERT INTO t (id, b) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET b = EXCLUDED.b",
        "INSERT INTO t AS k (id, b) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET n = k.n + 1 WHERE k.c = EXCLUDED.b",
        "INSERT INTO t (id, a, b) VALUES (9, 1, 1) ON CONFLICT ON CONSTRAINT t_key DO NOTHING",
        "UPDATE t SET a = 5",
        "UPDATE t SET a = a + 1 WHERE id = 1",
        "UPDATE t AS k SET (b, c) = (SELECT u.x, u.y FROM u WHERE u.id = k.id)",
        "UPDATE t SET b = u.x FROM u WHERE u.id = t.id RETURNING t.c, u.y",
        "UPDATE t SET b = 5 FROM u",
        "DELETE FROM t",
        "DELETE FROM t WHERE id = 1 RETURNING a",
        "DELETE FROM t USING u WHERE u.id = t.id",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED AND u.x = 9 THEN DELETE WHEN MATCHED THEN UPDATE SET b = u.y \
         WHEN NOT MATCHED THEN INSERT (id, b) VALUES (u.id, u.t_id)",
        "TRUNCATE t",
    ];
    let known = known(false);
    let mut wrong = Vec::new();
    for text in forms {
        let grants = grants(text, Dialect::Postgres, &known);
        let found = trial(&grants, text);
        if !found.starts_with(DONE) {
            wrong.push(format!("{text}: {found} with {grants:?}"));
        }
        for place in 0..grants.len() {
            let fewer: Vec<String> =
                grants.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, grant)| grant.clone()).collect();
            if !trial(&fewer, text).starts_with("42501") {
                wrong.push(format!("{text}: does not need {}", grants[place]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mariadb_wants_exactly_these_rights() {
    let server = MariadbTrials::start();
    let trial = |grants: &[String], text: &str| server.trial(grants, text);
    let forms = [
        "SELECT a, B FROM t WHERE c = 1",
        "SELECT * FROM t",
        "SELECT COUNT(*) FROM t",
        "SELECT a + 1 AS n2, COUNT(*) AS k FROM t GROUP BY n2 HAVING k > 1 ORDER BY n2 + 1",
        "SELECT TIMESTAMPDIFF(DAY, a, b), a + INTERVAL 1 DAY FROM t",
        "SELECT t.a, u.x FROM t JOIN u ON u.t_id = t.id",
        "SELECT t.a, u.x FROM t LEFT JOIN u USING (id)",
        "SELECT a FROM t WHERE id IN (SELECT t_id FROM u WHERE x = c)",
        "SELECT x.a FROM (SELECT a, b FROM t) x WHERE x.b = 1",
        "WITH k AS (SELECT a FROM t) SELECT a FROM k",
        "SELECT a FROM t UNION SELECT x FROM u",
        "SELECT a FROM t WHERE id = 1 FOR UPDATE",
        "SELECT j.v FROM t, JSON_TABLE('[1]', '$[*]' COLUMNS (v JSON PATH '$')) AS j WHERE t.id = 1",
        "INSERT INTO t (id, a) VALUES (2, 2)",
        "INSERT IGNORE INTO t SET id = 1, a = 2",
        "INSERT INTO t (id, a) SELECT x + 9, y FROM u WHERE t_id = 5",
        "INSERT INTO t (id, a) VALUES (3, 3) RETURNING b",
        "INSERT INTO t (id, b) VALUES (1, 2) ON DUPLICATE KEY UPDATE b = VALUES(b)",
        NOT_ASKED_FOR.0,
        "REPLACE INTO t (id, a) VALUES (1, 2)",
        "UPDATE t SET a = 5",
        "UPDATE t SET a = 5 WHERE b = 1 ORDER BY c LIMIT 1",
        "UPDATE t JOIN u ON u.id = t.id SET t.a = u.x",
        "UPDATE t JOIN u ON u.id = t.id SET t.a = u.x, u.y = 1",
        "DELETE FROM t",
        "DELETE FROM t WHERE id = 1 RETURNING a",
        "DELETE t FROM t JOIN u ON u.id = t.id",
        "DELETE FROM t USING t JOIN u ON u.id = t.id",
    ];
    let known = known(true);
    let mut wrong = Vec::new();
    for text in forms {
        let grants = grants(text, Dialect::MySql, &known);
        if let Err(found) = trial(&grants, text) {
            wrong.push(format!("{text}: {found} with {grants:?}"));
        }
        for place in 0..grants.len() {
            let fewer: Vec<String> =
                grants.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, grant)| grant.clone()).collect();
            let is_asked_for = trial(&fewer, text).is_err_and(|found| found.contains("denied"));
            if is_asked_for == (NOT_ASKED_FOR == (text, grants[place].as_str())) {
                wrong.push(format!("{text}: does not need {}", grants[place]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The tables of ClickHouse, their columns and the types of these.
const CLICKHOUSE_TABLES: [(&str, &[(&str, &str)]); 2] = [
    (
        "t",
        &[
            ("id", "Int64"),
            ("a", "Int64"),
            ("b", "Int64"),
            ("s", "String"),
            ("o", "Nullable(String)"),
            ("list", "Array(String)"),
            ("m", "Map(String, Int64)"),
            ("p", "Tuple(lat Float64, lon Float64)"),
            ("n.x", "Array(Int64)"),
        ],
    ),
    ("u", &[("id", "Int64"), ("t_id", "Int64"), ("x", "Int64")]),
];

/// A right without the part of a column that it is for.
fn column_of(grant: &str) -> String {
    let part = grant.split_once('.').and_then(|(start, rest)| Some((start, &rest[rest.find('`')?..])));
    part.map_or_else(|| grant.to_owned(), |(start, rest)| format!("{start}{rest}"))
}

#[test]
fn clickhouse_wants_exactly_these_rights() {
    let server = clickhouse::start(&["--rights"]);
    let at = |login: &str| Database::open(connection("clickhouse", &format!("http://{login}127.0.0.1:{}/trial", server.port), &[]));
    clickhouse::open(&server).run("CREATE DATABASE trial", &[]).unwrap();
    let (administrator, database) = (at(""), at("app:app@"));
    let run = |sql: &str| drop(administrator.run(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error:?}")));
    for (table, columns) in CLICKHOUSE_TABLES {
        let columns: Vec<String> = columns.iter().map(|(name, kind)| format!("`{name}` {kind}")).collect();
        run(&format!("CREATE TABLE {table} ({}) ENGINE = MergeTree ORDER BY id", columns.join(", ")));
    }
    run(
        "CREATE TABLE light (id Int64, a Int64) ENGINE = MergeTree ORDER BY id SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1",
    );
    run("CREATE TABLE door (id Int64) ENGINE = MergeTree ORDER BY id");
    run("CREATE TABLE replaced (id Int64, a Int64) ENGINE = ReplacingMergeTree ORDER BY id");
    run("CREATE DICTIONARY rates (id UInt64, rate Float64) PRIMARY KEY id SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(0)");
    run("INSERT INTO t (id, s) VALUES (1, 'x')");
    let trial = |grants: &[String], text: &str| {
        run("DROP USER app");
        // Without a table of its own, nobody may name the database.
        run("GRANT SELECT ON door TO app");
        grants.iter().for_each(|grant| run(&format!("GRANT {grant} TO app")));
        let values = if text.contains("{p1:") { vec![Value::Text(String::new())] } else { Vec::new() };
        database.run(text, &values).map(drop)
    };
    let forms = [
        "SELECT a, b FROM t WHERE id = 1",
        "SELECT t.a, trial.t.b FROM trial.t",
        "SELECT * FROM t",
        "SELECT * EXCEPT (a, s) FROM t",
        "SELECT count() FROM t",
        "SELECT a AS b, b + 1 AS c FROM t WHERE b > 1 ORDER BY c",
        "SELECT abs(a) AS a FROM t WHERE a > 1 GROUP BY ALL ORDER BY ALL",
        "SELECT sum(a) AS total FROM t GROUP BY b HAVING total > 1 LIMIT 1 BY b",
        "SELECT sumIf(a, b > 1), quantile(0.5)(id) FROM t",
        "SELECT a FROM t PREWHERE b = 1 SETTINGS max_threads = 1",
        "SELECT a FROM replaced FINAL WHERE id = 1",
        "SELECT t.a FROM t ANY LEFT JOIN u ON u.t_id = t.id",
        "SELECT t.a, x FROM t LEFT SEMI JOIN u USING (id)",
        "SELECT a FROM t WHERE id IN (SELECT t_id FROM u WHERE x > 1)",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)",
        "WITH k AS (SELECT a, b FROM t) SELECT a FROM k WHERE b = 1",
        "SELECT a FROM t UNION ALL SELECT x FROM u",
        "SELECT tag FROM t ARRAY JOIN list AS tag",
        "SELECT arrayMap(v -> v || s, list) FROM t",
        "SELECT length(list), list[1] FROM t WHERE a = 1",
        "SELECT a FROM t WHERE empty(s)",
        "SELECT a FROM t WHERE s = ''",
        "SELECT a FROM t WHERE s = {p1:String}",
        "SELECT a FROM t WHERE s LIKE '%x%'",
        "SELECT a FROM t WHERE o IS NULL",
        "SELECT count(o) FROM t",
        "SELECT mapKeys(m) FROM t",
        "SELECT m['k'] FROM t",
        "SELECT p.lat, t.p.lon FROM t",
        "SELECT tupleElement(p, 'lat') FROM t",
        "SELECT n.x FROM t",
        "SELECT dictGet('trial.rates', 'rate', 1)",
        "SELECT dictHas('rates', 1)",
        "SELECT number FROM numbers(2)",
        "SELECT count() FROM zeros(2)",
        "DESCRIBE TABLE u",
        "SHOW CREATE TABLE u",
        "INSERT INTO u (id, x) VALUES (2, 2)",
        "INSERT INTO TABLE u (id) SETTINGS async_insert = 0 VALUES (3)",
        "INSERT INTO u VALUES (2, 2, 2)",
        "INSERT INTO u (id) SELECT a FROM t WHERE b = 1",
        "ALTER TABLE t UPDATE a = a + b WHERE id = 7 SETTINGS mutations_sync = 2",
        "ALTER TABLE t DELETE WHERE id IN (SELECT x FROM u) SETTINGS mutations_sync = 2",
        "DELETE FROM t WHERE a = 7",
        "UPDATE light SET a = id WHERE id = 7",
        "OPTIMIZE TABLE u FINAL",
        "TRUNCATE TABLE u",
    ];
    let known = |(table, columns): (&str, &[(&str, &str)])| {
        let kinds: BTreeMap<String, String> = columns.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect();
        let columns = kinds.keys().cloned().collect();
        let known = KnownTable { schema: "trial".to_owned(), columns, kinds, ..KnownTable::default() };
        [None, Some("trial".to_owned())].map(|schema| (Named { schema, name: table.to_owned() }, known.clone()))
    };
    let known = Known { tables: CLICKHOUSE_TABLES.into_iter().flat_map(known).collect(), is_mariadb: false };
    let mut wrong = Vec::new();
    for text in forms {
        let grants = grants(text, Dialect::ClickHouse, &known);
        if let Err(error) = trial(&grants, text) {
            wrong.push(format!("{text}: {error:?} with {grants:?}"));
        }
        for grant in &grants {
            // A column goes with its parts: which of them the engine looks at, its plan of the
            // query decides.
            let fewer: Vec<String> = grants.iter().filter(|other| column_of(other) != column_of(grant)).cloned().collect();
            if !trial(&fewer, text).is_err_and(|error| error.kind == ErrorKind::Denied) {
                wrong.push(format!("{text}: does not need {grant}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An app whose rights only the database knows: its file and what is in it.
const APP: [(&str, &str); 9] = [
    ("millrace.yaml", "name: shop"),
    ("app/adapters/main.yaml", "connector: postgres\nconnection_string: \"{{ env.DATABASE_URL }}\""),
    ("app/adapters/clerk.yaml", "connector: postgres\nconnection_string: \"{{ env.DATABASE_URL }}\"\nsession: { role: clerk }"),
    ("app/tools/add/config.yaml", "description: x\nuse: main\nstatement: INSERT INTO shop.orders (who) VALUES ('x') RETURNING id"),
    ("app/tools/policed/config.yaml", "description: x\nuse: main\nstatement: SELECT id FROM policed"),
    ("app/tools/secret/config.yaml", "description: x\nuse: main\nstatement: SELECT shop.secret(1) AS v"),
    ("app/tools/shown/config.yaml", "description: x\nuse: main\nstatement: SELECT count(*) AS n FROM shown"),
    ("app/tools/number/config.yaml", "description: x\nuse: main\nstatement: INSERT INTO numbered (a) VALUES (1)"),
    ("app/tools/noted/config.yaml", "description: x\nuse: clerk\nstatement: SELECT note FROM shop.orders"),
];

#[test]
fn what_only_the_database_knows_is_granted_too() {
    let server = Postgres::start(&[]);
    let sql = "CREATE SCHEMA shop; CREATE TABLE shop.orders (id serial PRIMARY KEY, who text, note text);\n\
         CREATE TABLE tenants (name text, plan text); CREATE TABLE policed (id int, who text); ALTER TABLE policed ENABLE ROW LEVEL SECURITY;\n\
         CREATE POLICY own ON policed USING (EXISTS (SELECT 1 FROM tenants WHERE tenants.name = policed.who));\n\
         CREATE FUNCTION shop.secret(int) RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT $1';\n\
         REVOKE EXECUTE ON FUNCTION shop.secret(int) FROM PUBLIC; CREATE VIEW shown AS SELECT id, who FROM shop.orders;\n\
         CREATE TABLE numbered (id int GENERATED ALWAYS AS IDENTITY, a int);\n\
         CREATE ROLE clerk; CREATE ROLE app LOGIN NOINHERIT PASSWORD 'app';\n";
    let administrator = server.url("postgres");
    psql(&administrator, sql);
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in APP {
        millrace_tests::files::write(folder.path(), file, text);
    }
    let millrace = |arguments: &[&str], url: &str| {
        Command::new(binary()).args(arguments).env("DATABASE_URL", url).current_dir(folder.path()).output().unwrap()
    };
    let role = format!("postgres://app:app@127.0.0.1:{}/postgres", server.port);
    let everybody = millrace(&["grants", "--role", "Public"], &administrator);
    assert_eq!(everybody.status.code(), Some(2), "{}", String::from_utf8_lossy(&everybody.stdout));
    let printed = millrace(&["grants", "--connect"], &administrator);
    assert!(printed.status.success() && printed.stderr.is_empty(), "{}", String::from_utf8_lossy(&printed.stderr));
    let printed = String::from_utf8(printed.stdout).unwrap();
    psql(&administrator, &printed);
    let works = |tool: &str| millrace(&["call", tool], &role).status.success();
    for tool in ["add", "policed", "secret", "shown", "number", "noted"] {
        assert!(works(tool), "{tool} with\n{printed}");
    }
    let json = millrace(&["grants", "--connect", "--json"], &administrator);
    let json: Json = serde_json::from_slice(&json.stdout).unwrap();
    let all: Vec<&Json> = json["sections"].as_array().unwrap().iter().flat_map(|section| section["grants"].as_array().unwrap()).collect();
    assert_eq!(all.len(), 12, "{printed}");
    for grant in all {
        let sql = grant["sql"].as_str().unwrap();
        // Each has one column at most.
        let revoke = sql.replace("GRANT ", "REVOKE ").replace(" TO ", " FROM ");
        psql(&administrator, &revoke);
        let users = grant["used_by"].as_array().unwrap();
        assert!(!users.is_empty() && users.iter().any(|tool| !works(tool.as_str().unwrap())), "nothing fails after {revoke}\n{printed}");
        psql(&administrator, sql);
    }
}
