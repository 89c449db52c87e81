use std::collections::BTreeMap;

use super::*;
use crate::statement::{KnownTable, Named};

/// The rights, a line each: `SELECT t (a, b)`, and what is noted.
fn shown(text: &str, dialect: Dialect) -> Vec<String> {
    shown_where(text, dialect, &Known::default())
}

fn shown_where(text: &str, dialect: Dialect, known: &Known) -> Vec<String> {
    let rights = rights(text, dialect, known);
    let mut lines: Vec<String> = Vec::new();
    for ((table, privilege), Columns { all, names }) in &rights.tables {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns = match (all, names.is_empty()) {
            (true, _) => String::new(),
            (false, true) => " (any)".to_owned(),
            (false, false) => format!(" ({})", names.join(", ")),
        };
        lines.push(format!("{} {table}{columns}", privilege.word(dialect)));
    }
    lines.extend(rights.sequences.iter().map(|(name, privilege)| format!("{} sequence {name}", privilege.word(dialect))));
    lines.extend(rights.functions.iter().map(|name| format!("function {name}")));
    lines.extend(rights.procedures.iter().map(|name| format!("procedure {name}")));
    lines.extend(rights.server.iter().map(|(right, on)| format!("{right} on {on}")));
    lines.extend(rights.widened.iter().map(|why| format!("wider: {why}")));
    lines.extend(rights.unclear.iter().map(|why| format!("unclear: {why}")));
    lines
}

/// A line that ends with `…` is the beginning of one.
fn check(dialect: Dialect, cases: &[(&str, &[&str])]) {
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = shown(text, dialect);
        let is_same = |(found, expected): (&String, &&str)| match expected.strip_suffix('…') {
            Some(start) => found.starts_with(start),
            None => found == expected,
        };
        if found.len() != expected.len() || !found.iter().zip(*expected).all(is_same) {
            wrong.push(format!("{text}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rights_of_statements_of_postgresql() {
    check(
        Dialect::Postgres,
        &[
            ("SELECT 1", &[]),
            ("SELECT * FROM t", &["SELECT t"]),
            ("SELECT count(*) FROM t", &["SELECT t (any)"]),
            ("SELECT a FROM t WHERE b = $1 ORDER BY c", &["SELECT t (a, b, c)"]),
            ("SELECT a AS x FROM t ORDER BY x", &["SELECT t (a)"]),
            ("SELECT t FROM t", &["SELECT t"]),
            ("SELECT x.a, y.b FROM t x JOIN u y ON x.id = y.t_id", &["SELECT t (a, id)", "SELECT u (b, t_id)"]),
            ("SELECT x.a FROM t x LEFT JOIN u y USING (id)", &["SELECT t (a, id)", "SELECT u (id)"]),
            ("SELECT a FROM t, u", &["SELECT t", "SELECT u", "wider: `a` can be a column of `t` or of `u`…"]),
            ("SELECT x.* FROM t x JOIN u ON u.id = x.id", &["SELECT t", "SELECT u (id)"]),
            ("WITH r AS (SELECT a FROM t) SELECT a FROM r", &["SELECT t (a)"]),
            (
                "WITH RECURSIVE r (n) AS (SELECT a FROM t UNION ALL SELECT t.b FROM t JOIN r ON t.p = r.n) SELECT n FROM r",
                &["SELECT t (a, b, p)"],
            ),
            ("WITH r AS (DELETE FROM t WHERE a = 1 RETURNING b) SELECT b FROM r", &["SELECT t (a, b)", "DELETE t"]),
            ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)", &["SELECT t (a, id)", "SELECT u (id)"]),
            ("SELECT (SELECT max(u.b) FROM u) FROM t", &["SELECT t (any)", "SELECT u (b)"]),
            ("SELECT x.a FROM (SELECT a, b FROM t) x WHERE x.b = 1", &["SELECT t (a, b)"]),
            ("SELECT a FROM t UNION SELECT b FROM u", &["SELECT t (a)", "SELECT u (b)"]),
            ("UPDATE t SET a = $1 WHERE id = $2 RETURNING b", &["SELECT t (b, id)", "UPDATE t (a)"]),
            ("UPDATE t SET a = a + 1", &["SELECT t (a)", "UPDATE t (a)"]),
            ("UPDATE t SET a = u.b FROM u WHERE u.id = t.id", &["SELECT t (id)", "UPDATE t (a)", "SELECT u (b, id)"]),
            ("INSERT INTO t (a, b) VALUES ($1, $2)", &["INSERT t (a, b)"]),
            ("INSERT INTO t VALUES ($1)", &["INSERT t"]),
            ("INSERT INTO t (a) SELECT b FROM u", &["INSERT t (a)", "SELECT u (b)"]),
            ("INSERT INTO t (a) VALUES ($1) RETURNING id", &["SELECT t (id)", "INSERT t (a)"]),
            ("INSERT INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING", &["INSERT t (a)"]),
            ("INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO NOTHING", &["SELECT t (a)", "INSERT t (a)"]),
            (
                "INSERT INTO t (a, b) VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET b = excluded.b",
                &["SELECT t (a, b)", "INSERT t (a, b)", "UPDATE t (b)"],
            ),
            (
                "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET n = t.n + 1",
                &["SELECT t (a, n)", "INSERT t (a)", "UPDATE t (n)"],
            ),
            (
                "INSERT INTO t (a) VALUES (1) ON CONFLICT ON CONSTRAINT k DO NOTHING",
                &["SELECT t", "INSERT t (a)", "wider: the columns of the constraint `k`…"],
            ),
            ("DELETE FROM t", &["DELETE t"]),
            ("DELETE FROM t USING u WHERE t.id = u.id", &["SELECT t (id)", "DELETE t", "SELECT u (id)"]),
            ("SELECT a FROM t FOR UPDATE", &["SELECT t (a)", "UPDATE t (any)"]),
            ("SELECT t.a FROM t JOIN u ON u.id = t.id FOR UPDATE OF u", &["SELECT t (a, id)", "SELECT u (id)", "UPDATE u (any)"]),
            (
                "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET a = u.a WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id)",
                &["SELECT t (id)", "INSERT t (id)", "UPDATE t (a)", "SELECT u (a, id)"],
            ),
            ("MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE", &["SELECT t (id)", "DELETE t", "SELECT u (id)"]),
            ("TRUNCATE t", &["TRUNCATE t"]),
            ("CALL p(1)", &["procedure p"]),
            ("SELECT f(a), upper(b) FROM t", &["SELECT t (a, b)", "function f"]),
            ("SELECT row(1, a) FROM t", &["SELECT t (a)"]),
            ("SELECT s.f(1)", &["function s.f"]),
            ("SELECT * FROM f(1)", &["function f"]),
            ("SELECT i FROM generate_series(1, $1) i", &[]),
            ("SELECT nextval('s.q'), setval('r', 1)", &["UPDATE sequence r", "USAGE sequence s.q"]),
            ("SELECT nextval($1)", &["unclear: the sequence of `nextval` is not written out"]),
            ("SELECT S.T.A FROM S.T", &["SELECT s.t (a)"]),
            ("SELECT \"A b\" FROM \"S\".\"T\"", &["SELECT S.T (A b)"]),
            ("SELECT relname FROM pg_class", &[]),
            ("EXPLAIN SELECT a FROM t", &["SELECT t (a)"]),
            ("CREATE TABLE t (a int)", &["unclear: what `CREATE …` needs: grant it by hand"]),
            ("SELECT a INTO u FROM t", &["SELECT t (a)", "unclear: `SELECT … INTO` makes a table, or writes a file"]),
            ("SELECT 1; SELECT 2", &["unclear: it is not one statement"]),
            ("SELEC a FROM t", &["unclear: …"]),
            ("SELECT 'a", &["unclear: the literal in it is not closed"]),
            ("SELECT u.a FROM t", &["SELECT t (any)", "unclear: `u.a` is a column of none of its tables"]),
        ],
    );
}

#[test]
fn rights_of_statements_of_mysql() {
    check(
        Dialect::MySql,
        &[
            ("SELECT a FROM t WHERE b = ?", &["SELECT t (a, b)"]),
            ("SELECT * FROM d.t", &["SELECT d.t"]),
            ("SELECT `A b` FROM `T`", &["SELECT T (a b)"]),
            ("SELECT x.a FROM t x JOIN u y ON x.id = y.id", &["SELECT t (a, id)", "SELECT u (id)"]),
            ("WITH r AS (SELECT a FROM t) SELECT a FROM r WHERE a IN (SELECT b FROM u)", &["SELECT t (a)", "SELECT u (b)"]),
            ("INSERT INTO t (a) VALUES (?)", &["INSERT t (a)"]),
            ("INSERT INTO t SET a = ?", &["INSERT t (a)"]),
            ("INSERT IGNORE INTO t (a) VALUES (?)", &["INSERT t (a)"]),
            (
                "INSERT INTO t (a, b) VALUES (?, ?) ON DUPLICATE KEY UPDATE b = VALUES(b)",
                &["SELECT t (b)", "INSERT t (a, b)", "UPDATE t (a, b)"],
            ),
            ("INSERT INTO t (a) VALUES (?) RETURNING id", &["SELECT t (a, id)", "INSERT t (a, id)"]),
            ("REPLACE INTO t (a) VALUES (?)", &["INSERT t (a)", "DELETE t"]),
            ("UPDATE t SET a = ? WHERE id = ?", &["SELECT t (id)", "UPDATE t (a)"]),
            ("UPDATE t x JOIN u y ON x.id = y.id SET x.a = y.b", &["SELECT t (id)", "UPDATE t (a)", "SELECT u (b, id)"]),
            ("DELETE FROM t WHERE a = ? ORDER BY b LIMIT 1", &["SELECT t (a, b)", "DELETE t"]),
            ("DELETE x FROM t x JOIN u y ON x.id = y.id", &["SELECT t (id)", "DELETE t", "SELECT u (id)"]),
            ("DELETE FROM x USING t x JOIN u y ON x.id = y.id", &["SELECT t (id)", "DELETE t", "SELECT u (id)"]),
            ("SELECT a FROM t FOR UPDATE", &["SELECT t (a)", "UPDATE t"]),
            ("TRUNCATE TABLE t", &["DROP t"]),
            ("CALL p(?)", &["procedure p"]),
            ("SELECT f(a), UPPER(b) FROM t", &["SELECT t (a, b)", "function f"]),
            ("SELECT TIMESTAMPDIFF(DAY, a, b) FROM t", &["SELECT t (a, b)"]),
            ("SELECT a AS x FROM t HAVING x > 1", &["SELECT t (a)"]),
            ("SELECT LAST_INSERT_ID()", &[]),
            ("SELECT 1 FROM dual", &[]),
            ("SELECT 1 /*! , a FROM t */", &["unclear: it has a character or a comment that is not understood"]),
            ("CREATE TABLE t (a int)", &["unclear: what `CREATE …` needs: grant it by hand"]),
        ],
    );
}

#[test]
fn rights_of_statements_of_clickhouse() {
    check(
        Dialect::ClickHouse,
        &[
            ("SELECT 1", &[]),
            ("SELECT id, Name FROM shop.Users", &["SELECT shop.Users (Name, id)"]),
            ("SELECT count() FROM t", &["SELECT t (any)"]),
            ("SELECT `a b` FROM t # it's the end", &["SELECT t (a b)"]),
            ("SELECT a FROM t WHERE b = {p1:Int64} AND c IN ({p2:Array(Int64)}) AND d IN {p3:Array(Date)}", &["SELECT t (a, b, c, d)"]),
            ("SELECT a FROM t WHERE b = {p1:String}", &["SELECT t (a, b, b.size)"]),
            ("SELECT a FROM t WHERE b != ''", &["SELECT t (a, b, b.size)"]),
            ("SELECT a FROM t FINAL PREWHERE b = 1 SETTINGS max_threads = 1", &["SELECT t (a, b)"]),
            ("SELECT x.a FROM t AS x FINAL WHERE x.final = 1", &["SELECT t (a, final)"]),
            ("SELECT a FROM t SAMPLE 0.1 ORDER BY b WITH FILL LIMIT 1 BY c", &["SELECT t (a, b, c)"]),
            ("SELECT upper(a) AS a, b AS c, c AS d FROM t WHERE a = 'X' AND d > 1", &["SELECT t (a, b)"]),
            ("SELECT a AS x, length(x) AS n FROM t GROUP BY ALL ORDER BY ALL", &["SELECT t (a)"]),
            ("SELECT x.a FROM t x ANY LEFT JOIN u y ON x.id = y.id", &["SELECT t (a, id)", "SELECT u (id)"]),
            ("SELECT a FROM t LEFT SEMI JOIN u USING (id)", &["SELECT t", "SELECT u", "wider: `a` can be a column of `t` or of `u`…"]),
            ("SELECT t.a FROM t GLOBAL ALL INNER JOIN u ON t.id = u.id", &["SELECT t (a, id)", "SELECT u (id)"]),
            ("SELECT a FROM t WHERE b GLOBAL IN (SELECT u.c FROM u)", &["SELECT t (a, b)", "SELECT u (c)"]),
            ("SELECT tag FROM t ARRAY JOIN tags AS tag", &["SELECT t (tags)"]),
            ("SELECT a, n.x FROM t LEFT ARRAY JOIN n.x", &["SELECT t (a, n, n.x)"]),
            ("SELECT p FROM t ARRAY JOIN splitByChar(',', s) AS p", &["SELECT t (s)"]),
            ("SELECT a FROM t ARRAY JOIN b, c", &["SELECT c", "SELECT t", "wider: …", "unclear: whether tables or arrays follow…"]),
            ("SELECT arrayMap(x -> x + a, list), arrayFilter((x, y) -> x > y, p, q) FROM t", &["SELECT t (a, list, p, q)"]),
            ("SELECT place.lat, t.place.lon, d.t.j.a.b FROM d.t", &["SELECT d.t (j, j.a.b, place, place.lat, place.lon)"]),
            (
                "SELECT length(a), b IS NULL, count(c), mapKeys(m) FROM t",
                &["SELECT t (a, a.size, a.size0, b, b.null, c, c.null, m, m.keys)"],
            ),
            ("SELECT m['k'], a[1], m[s] FROM t", &["SELECT t (a, m, m.key_k, s)"]),
            ("SELECT m[{p1:String}] FROM t", &["SELECT t", "wider: which part of `m` is read is not known…"]),
            ("SELECT tupleElement(p, 'lat') FROM t", &["SELECT t (p, p.lat)"]),
            ("SELECT * FROM t", &["SELECT t"]),
            ("SELECT * EXCEPT (a) FROM t", &["SELECT t", "wider: which columns are left by `EXCEPT`…"]),
            ("SELECT COLUMNS('^a') FROM t", &["SELECT t", "wider: which columns `COLUMNS(…)` means…"]),
            ("WITH r AS (SELECT a, b FROM t) SELECT a FROM r WHERE b IN (SELECT c FROM u)", &["SELECT t (a, b)", "SELECT u (c)"]),
            ("SELECT a FROM t UNION ALL SELECT b FROM u", &["SELECT t (a)", "SELECT u (b)"]),
            ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)", &["SELECT t (a, id)", "SELECT u (id)"]),
            ("SELECT sumIf(a, b > 0), quantile(0.9)(c), uniqExactOrNull(d) FROM t", &["SELECT t (a, b, c, d)"]),
            ("SELECT own(a) FROM t", &["SELECT t (a)", "function own"]),
            (
                "SELECT dictGet('shop.rates', 'rate', a), dictHas(names, b) FROM t",
                &["dictGet names", "SELECT t (a, b)", "dictGet shop.rates"],
            ),
            ("SELECT dictGet({p1:String}, 'rate', 1)", &["unclear: connector `clickhouse` does not send it"]),
            ("SELECT joinGet('d.j', 'v', a) FROM t", &["SELECT t (a)", "SELECT d.j", "wider: which columns are the key of `d.j`…"]),
            ("SELECT hasColumnInTable('d', 't', 'c')", &["SHOW COLUMNS d.t"]),
            ("SELECT a FROM t WHERE b IN u", &["SELECT t (a, b)", "unclear: whether the name after `IN` is that of a table…"]),
            ("SELECT a FROM t WHERE b IN (u)", &["SELECT t (a, b)", "unclear: whether the name after `IN` is that of a table…"]),
            ("SELECT number FROM numbers(10) WHERE number > 1", &[]),
            ("SELECT a FROM url('http://h/x', 'TSV', 'a Int64')", &["CREATE TEMPORARY TABLE on *.*", "READ on URL"]),
            ("SELECT a FROM dictionary('d.r')", &["dictGet d.r", "CREATE TEMPORARY TABLE on *.*"]),
            ("SELECT a FROM merge('d', '^t')", &["unclear: what `merge(…)` in `FROM` needs: grant it by hand"]),
            ("SELECT name FROM system.tables", &[]),
            ("SELECT query FROM system.query_log", &["SELECT system.query_log (query)"]),
            ("INSERT INTO t (a, b) VALUES ({p1:Int64}, {p2:String})", &["INSERT t (a, b)"]),
            ("INSERT INTO TABLE d.t (a, n.x) SETTINGS async_insert = 1 VALUES (1, [2])", &["INSERT d.t (a, n.x)"]),
            ("INSERT INTO t VALUES (1)", &["INSERT t"]),
            ("INSERT INTO t (a) SELECT b FROM u", &["INSERT t (a)", "SELECT u (b)"]),
            ("INSERT INTO FUNCTION url('http://h/x', 'TSV') VALUES (1)", &["unclear: it has a form of `INSERT` that is not understood"]),
            ("ALTER TABLE d.t DELETE WHERE a = {p1:Int64} SETTINGS mutations_sync = 2", &["ALTER DELETE d.t"]),
            ("ALTER TABLE t DELETE WHERE a IN (SELECT u.b FROM u)", &["ALTER DELETE t", "SELECT u (b)"]),
            ("ALTER TABLE t UPDATE a = b + 1, c = 2 WHERE d = 1", &["ALTER UPDATE t (a, c)"]),
            ("ALTER TABLE t UPDATE a = (SELECT max(t.b) FROM t) WHERE 1", &["SELECT t (b)", "ALTER UPDATE t (a)"]),
            ("ALTER TABLE t ADD COLUMN a Int64", &["unclear: what `ALTER …` needs: grant it by hand"]),
            ("ALTER TABLE t ON CLUSTER c DELETE WHERE a = 1", &["unclear: what `ALTER …` needs: grant it by hand"]),
            ("DELETE FROM t WHERE a = 1", &["ALTER DELETE t"]),
            ("UPDATE t SET a = b WHERE c = 1", &["ALTER UPDATE t"]),
            ("TRUNCATE TABLE IF EXISTS d.t", &["TRUNCATE d.t"]),
            ("OPTIMIZE TABLE t FINAL", &["OPTIMIZE t"]),
            ("DESCRIBE TABLE d.t", &["SHOW COLUMNS d.t"]),
            ("DESCRIBE (SELECT a FROM t)", &["SELECT t (a)"]),
            ("SHOW CREATE TABLE t", &["SHOW COLUMNS t"]),
            ("EXISTS TABLE t", &["SHOW TABLES t"]),
            ("SHOW TABLES", &["unclear: it shows only what its user may see: grant that by hand"]),
            ("EXPLAIN PLAN SELECT a FROM t", &["SELECT t (a)"]),
            ("CREATE TABLE t (a Int64) ENGINE = Memory", &["unclear: …"]),
            ("SELECT a ? b : c FROM t", &["unclear: …"]),
            ("SELECT 1 FORMAT TSV", &["unclear: connector `clickhouse` does not send it"]),
        ],
    );
}

/// What the database says decides where a column can be of several tables, and what a constraint
/// compares.
#[test]
fn what_is_known_of_tables_narrows_rights() {
    let table = |columns: &[&str], constraint: &[&str]| KnownTable {
        schema: "public".to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
        any: None,
        kinds: BTreeMap::new(),
        constraints: [("k".to_owned(), constraint.iter().map(|&column| column.to_owned()).collect())].into(),
    };
    let named = |name: &str| Named { schema: None, name: name.to_owned() };
    let tables = [(named("t"), table(&["id", "a"], &["a"])), (named("u"), table(&["id", "b"], &["id"]))].into();
    let known = Known { tables, is_mariadb: false };
    let cases: [(&str, &[&str]); 2] = [
        ("SELECT a, b FROM t JOIN u ON t.id = u.id", &["SELECT t (a, id)", "SELECT u (b, id)"]),
        ("INSERT INTO t (a) VALUES (1) ON CONFLICT ON CONSTRAINT k DO NOTHING", &["SELECT t (a)", "INSERT t (a)"]),
    ];
    for (text, expected) in cases {
        assert_eq!(shown_where(text, Dialect::Postgres, &known), expected, "{text}");
    }
    let known = Known { is_mariadb: true, ..Known::default() };
    assert_eq!(shown_where("SELECT a FROM t FOR UPDATE", Dialect::MySql, &known), ["SELECT t (a)"]);
}
