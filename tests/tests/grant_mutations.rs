//! Statements with one piece changed: the rights that are asked for change as the server's do, or
//! the statement is not understood.
//!
//! `⟦own→other⟧` is a piece and what it is replaced by, one at a time. Where the other statement
//! needs something more, the rights of the whole one are not enough for it, and else its rights are
//! not enough for the whole one.

use std::collections::BTreeSet;

use millrace_bundler::statement::{Dialect, Known, rights::rights};

use crate::grant_forms::{DONE, MariadbTrials, PostgresTrials, grants, known};

const OF_POSTGRESQL: [&str; 30] = [
    "SELECT ⟦a→b⟧ FROM t WHERE ⟦c = 1→true⟧ ORDER BY ⟦n→id⟧",
    "SELECT ⟦a→*⟧ FROM t",
    "SELECT ⟦count(*)→count(a)⟧ FROM t",
    "SELECT ⟦x.a→x⟧ FROM t x",
    "SELECT ⟦sum(a)→count(*)⟧ FILTER (WHERE ⟦b→c⟧ > 0) FROM t GROUP BY ⟦n→up⟧ HAVING ⟦max(id) > 0→true⟧",
    "SELECT a, row_number() OVER (PARTITION BY ⟦b→c⟧ ORDER BY ⟦n→up⟧) FROM t",
    "SELECT a, sum(b) OVER w FROM t WINDOW w AS (PARTITION BY ⟦c→n⟧)",
    "SELECT DISTINCT ON (⟦a→b⟧) c FROM t",
    "SELECT CASE WHEN ⟦a→b⟧ > 1 THEN ⟦c→n⟧ END FROM t",
    "SELECT x.a FROM t x JOIN u y ON ⟦x.id = y.t_id→true⟧ WHERE ⟦y.x→y.y⟧ = 1",
    "SELECT t.a, u.x FROM t LEFT JOIN u ⟦USING (id)→ON u.t_id = t.id⟧",
    "SELECT t.a FROM t ⟦CROSS JOIN u→⟧",
    "SELECT a FROM t WHERE id IN (SELECT ⟦t_id→id⟧ FROM u WHERE ⟦x = c→true⟧)",
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM ⟦u→t⟧ z WHERE z.id = t.id)",
    "SELECT (SELECT max(⟦x→y⟧) FROM u WHERE t_id = ⟦t.id→t.a⟧) FROM t",
    "SELECT k.n FROM t CROSS JOIN LATERAL (SELECT count(*) AS n FROM u WHERE u.t_id = ⟦t.id→t.a⟧) k",
    "SELECT x.a FROM (SELECT a, b FROM t ⟦WHERE c = 1→⟧) x WHERE x.b = 1",
    "WITH k AS (SELECT ⟦a→b AS a⟧ FROM t) SELECT a FROM k",
    "WITH gone AS (DELETE FROM t WHERE id = ⟦1→n⟧ RETURNING ⟦a→b AS a⟧) SELECT a FROM gone",
    "SELECT a FROM t UNION ALL SELECT ⟦x→y⟧ FROM u",
    "SELECT a FROM t ⟦FOR UPDATE→⟧",
    "SELECT ⟦nextval('ids')→setval('ids', 5)⟧",
    "INSERT INTO t (id, ⟦a→b⟧) VALUES (2, ⟦2→(SELECT max(x) + 1 FROM u)⟧) RETURNING ⟦c→n⟧",
    "INSERT INTO t (id, b) SELECT x + 9, ⟦y→id⟧ FROM u WHERE ⟦t_id = 1→true⟧",
    "INSERT INTO t (id, a) VALUES (1, 1) ON CONFLICT ⟦(id)→(a)⟧ DO ⟦UPDATE SET b = EXCLUDED.id→NOTHING⟧",
    "UPDATE t SET ⟦b→c⟧ = 5 WHERE ⟦id = 1→n = 1⟧ RETURNING ⟦a→up⟧",
    "UPDATE t SET b = ⟦u.x→u.y⟧ FROM u WHERE ⟦u.id = t.id→true⟧",
    "⟦DELETE FROM→TRUNCATE⟧ t",
    "DELETE FROM t USING u WHERE ⟦u.id = t.id→u.x = t.a⟧ RETURNING ⟦t.b→u.y⟧",
    "MERGE INTO t USING u ON ⟦t.id = u.id→t.a = u.x⟧ WHEN MATCHED AND ⟦t.b = 1→true⟧ THEN ⟦UPDATE SET c = u.y→DELETE⟧",
];
const OF_MARIADB: [&str; 11] = [
    "SELECT ⟦a→b⟧ FROM t WHERE ⟦c = 1→1 = 1⟧ ORDER BY ⟦n→id⟧",
    "SELECT ⟦a→*⟧ FROM t",
    "SELECT ⟦a→b⟧ + 1 AS k FROM t GROUP BY k HAVING k > 1",
    "SELECT t.a, u.x FROM t LEFT JOIN u ⟦USING (id)→ON u.t_id = t.id⟧",
    "SELECT a FROM t WHERE id IN (SELECT ⟦t_id→id⟧ FROM u WHERE ⟦x = c→1 = 1⟧)",
    "INSERT INTO t (id, ⟦a→b⟧) VALUES (3, 3) RETURNING ⟦c→n⟧",
    "⟦INSERT IGNORE→REPLACE⟧ INTO t (id, a) VALUES (1, 2)",
    "UPDATE t SET ⟦a→b⟧ = 5 WHERE ⟦c = 1→n = 1⟧",
    "UPDATE t JOIN u ON u.id = t.id SET ⟦t.a→u.y⟧ = ⟦u.x→1⟧",
    "DELETE FROM t WHERE ⟦a→b⟧ = 1",
    "DELETE ⟦t→u⟧ FROM t JOIN u ON ⟦u.id = t.id→u.x = t.a⟧",
];
/// Statements of which some other piece is not understood, or needs more than is known.
const NOT_UNDERSTOOD: [(Dialect, &str); 13] = [
    (Dialect::Postgres, "SELECT ⟦t.a→u.a⟧ FROM t"),
    (Dialect::Postgres, "SELECT a ⟦→INTO copies⟧ FROM t"),
    (Dialect::Postgres, "SELECT a FROM t UNION ⟦SELECT id FROM→TABLE⟧ u"),
    (Dialect::Postgres, "SELECT ⟦abs→own⟧(a) FROM t"),
    (Dialect::Postgres, "SELECT a ⟦+→OPERATOR(shop.+)⟧ 1 FROM t"),
    (Dialect::Postgres, "SELECT nextval(⟦'ids'→$1⟧)"),
    (Dialect::Postgres, "SELECT t.a FROM t ⟦JOIN u USING (id)→NATURAL JOIN u⟧"),
    (Dialect::Postgres, "SELECT t.a FROM t ⟦CROSS JOIN u→CROSS JOIN own(1)⟧"),
    (Dialect::Postgres, "TRUNCATE t ⟦→CASCADE⟧"),
    (Dialect::Postgres, "UPDATE ⟦t→ONLY t⟧ SET b = 1"),
    (Dialect::Postgres, "INSERT INTO ⟦t→pg_catalog.pg_class⟧ (id) VALUES (1)"),
    (Dialect::MySql, "SELECT 1 ⟦→INTO OUTFILE 'x'⟧ FROM t"),
    (Dialect::MySql, "DELETE ⟦t→v⟧ FROM t JOIN u ON u.id = t.id"),
];

/// A statement, and what becomes of it with each piece of it replaced.
fn mutations(text: &str) -> (String, Vec<String>) {
    let mut texts = vec![String::new()];
    for (place, piece) in text.split(['⟦', '⟧']).enumerate() {
        let (own, other) = if place % 2 == 1 { piece.split_once('→').unwrap() } else { (piece, piece) };
        let changed = texts[0].clone() + other;
        texts.iter_mut().for_each(|text| text.push_str(own));
        texts.extend((place % 2 == 1).then_some(changed));
    }
    let whole = texts.remove(0);
    (whole, texts)
}

/// Judges each mutation of some statements. `is_carried_out` says what the server does with a
/// statement, by a role that has some rights.
fn judge(statements: &[&str], dialect: Dialect, known: &Known, is_carried_out: &dyn Fn(&[String], &str) -> bool) -> usize {
    let (mut wrong, mut count) = (String::new(), 0);
    for (whole, others) in statements.iter().map(|text| mutations(text)) {
        let own = grants(&whole, dialect, known);
        for other in others {
            let asked = grants(&other, dialect, known);
            let sets = [&own, &asked].map(|grants| grants.iter().collect::<BTreeSet<_>>());
            if sets[0] == sets[1] {
                wrong.push_str(&format!("{other}: the same rights as {whole}: {own:?}\n"));
                continue;
            }
            if !is_carried_out(&asked, &other) {
                wrong.push_str(&format!("{other}: not with {asked:?}\n"));
            }
            let (fewer, more) = if sets[1].is_subset(&sets[0]) { (&asked, &whole) } else { (&own, &other) };
            if is_carried_out(fewer, more) {
                wrong.push_str(&format!("{more}: with {fewer:?} already\n"));
            }
            count += 1;
        }
    }
    assert_eq!(wrong, "");
    count
}

#[test]
fn rights_change_as_those_of_postgresql_do() {
    let server = PostgresTrials::start();
    let is_carried_out = |grants: &[String], text: &str| server.trial(grants, text).starts_with(DONE);
    assert_eq!(judge(&OF_POSTGRESQL, Dialect::Postgres, &known(false), &is_carried_out), 51);
}

#[test]
fn rights_change_as_those_of_mariadb_do() {
    let server = MariadbTrials::start();
    let is_carried_out = |grants: &[String], text: &str| server.trial(grants, text).is_ok();
    assert_eq!(judge(&OF_MARIADB, Dialect::MySql, &known(true), &is_carried_out), 18);
}

#[test]
fn what_is_not_understood_is_said() {
    for (dialect, text) in NOT_UNDERSTOOD {
        let (whole, others) = mutations(text);
        assert_eq!(others.len(), 1, "{text}");
        let is_clear = |text: &str| {
            let found = rights(text, dialect, &known(false));
            found.unclear.is_empty() && found.widened.is_empty() && found.functions.is_empty()
        };
        assert!(is_clear(&whole) && !is_clear(&others[0]), "{whole}: {:?}", rights(&others[0], dialect, &known(false)));
    }
}
