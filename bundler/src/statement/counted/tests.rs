use super::*;

#[test]
fn what_returns_rows_is_counted_and_nothing_else() {
    let (changes, none, part, comment) = ("changes rows and returns none", "neither selects", "a part of its `WITH`", "a comment comes");
    for (text, expected) in [
        ("SELECT a FROM t WHERE id = {{ inputs.id }} FOR UPDATE", None),
        (" ;; -- x\nselect 'RETURNING' ; ;", None),
        ("(SELECT 1) UNION SELECT 2", None),
        ("((SELECT 1))", None),
        ("VALUES (1), (2)", None),
        ("TABLE t", None),
        ("UPDATE t SET a = 1 WHERE id = {{ inputs.id }} RETURNING id", None),
        ("/* a */ DELETE FROM t returning *", None),
        ("INSERT INTO t SELECT 1 AS returning", Some(changes)),
        ("INSERT INTO t SELECT r.returning FROM r", Some(changes)),
        ("INSERT INTO t (a) VALUES ('RETURNING') -- RETURNING id", Some(changes)),
        ("INSERT INTO t SELECT json_value(v, '$' RETURNING int) FROM u", Some(changes)),
        ("UPDATE t SET \"RETURNING\" = $x$ RETURNING $x$", Some(changes)),
        ("MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE", Some(changes)),
        ("WITH a AS (SELECT 1 AS v), b (x) AS MATERIALIZED (SELECT 2) UPDATE t SET a = v FROM a RETURNING id", None),
        ("WITH a AS (SELECT 1) DELETE FROM t", Some(changes)),
        ("WITH a AS (SELECT 1) SELECT (SELECT 2), a.* FROM a", None),
        ("WITH a AS (DELETE FROM t RETURNING id) SELECT * FROM a", Some(part)),
        ("WITH a AS (SELECT 1), b AS (insert INTO t VALUES (1)) INSERT INTO t SELECT 2 RETURNING id", Some(part)),
        ("CALL p()", Some(none)),
        ("EXPLAIN SELECT 1", Some(none)),
        ("CREATE TABLE t AS SELECT 1", Some(none)),
        ("SELECT 1; -- the end", Some(comment)),
        ("SELECT 1 -- the end", None),
    ] {
        let found = why_not(text, Dialect::Postgres).map(|(why, _)| why);
        assert!(
            found.is_some() == expected.is_some() && found.unwrap_or_default().contains(expected.unwrap_or_default()),
            "{text}: {found:?}"
        );
    }
}
