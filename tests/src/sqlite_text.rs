//! What every driver of SQLite's dialect makes of a statement, wherever the database is: one table
//! for `sqlite`, `libsql`, and `d1` by its API and by a Worker's binding.

use millrace_core::value::Value;

/// Statements that no driver runs, and what the refusal names.
const REFUSED: [(&str, &str); 39] = [
    ("ATTACH 'other.db' AS other", "ATTACH"),
    ("/**/ attach ':memory:' AS other", "ATTACH"),
    ("DETACH main", "DETACH"),
    ("VACUUM", "VACUUM"),
    ("VACUUM INTO 'copy.db'", "VACUUM"),
    ("BEGIN", "BEGIN"),
    ("BEGIN IMMEDIATE", "BEGIN"),
    ("COMMIT", "COMMIT"),
    ("END", "END"),
    ("ROLLBACK", "ROLLBACK"),
    ("SAVEPOINT a", "SAVEPOINT"),
    ("RELEASE a", "RELEASE"),
    ("CREATE TEMP TABLE t (v)", "CREATE TEMP"),
    ("CREATE TEMPORARY VIEW v AS SELECT 1", "CREATE TEMP"),
    ("CREATE TEMP TRIGGER x AFTER INSERT ON st BEGIN SELECT 1; END", "CREATE TEMP"),
    ("CREATE TABLE temp.t (v)", "CREATE TEMP"),
    ("CREATE TABLE IF NOT EXISTS \"temp\".t (v)", "CREATE TEMP"),
    ("CREATE VIRTUAL TABLE temp.t USING fts5(v)", "CREATE TEMP"),
    ("CREATE VIEW temp.t AS SELECT 1", "CREATE TEMP"),
    ("SELECT load_extension('/tmp/evil.so')", "load_extension"),
    ("SELECT LOAD_EXTENSION ('/tmp/evil.so', 'init')", "load_extension"),
    ("PRAGMA writable_schema = ON", "PRAGMA writable_schema"),
    ("pragma WRITABLE_SCHEMA = 1", "PRAGMA WRITABLE_SCHEMA"),
    ("PRAGMA key = 'k'", "PRAGMA key"),
    ("PRAGMA query_only = OFF", "PRAGMA query_only"),
    ("PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys"),
    ("PRAGMA journal_mode = OFF", "PRAGMA journal_mode"),
    ("PRAGMA main.journal_mode(memory)", "PRAGMA journal_mode"),
    ("PRAGMA main.\"journal_mode\"(off)", "PRAGMA journal_mode"),
    ("PRAGMA synchronous = OFF", "PRAGMA synchronous"),
    ("PRAGMA trusted_schema = ON", "PRAGMA trusted_schema"),
    ("PRAGMA temp_store_directory = '/tmp'", "PRAGMA temp_store_directory"),
    ("PRAGMA mmap_size = 1000000", "PRAGMA mmap_size"),
    ("PRAGMA busy_timeout = 100000", "PRAGMA busy_timeout"),
    ("PRAGMA database_list", "PRAGMA database_list"),
    ("SELECT * FROM pragma_database_list", "PRAGMA database_list"),
    ("PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_checkpoint"),
    ("PRAGMA user_version = 7", "PRAGMA user_version"),
    ("EXPLAIN ATTACH 'other.db' AS other", "ATTACH"),
];

/// Texts that are not one statement.
const NOT_ONE: [(&str, &str); 7] = [
    ("", "the query contains no statement"),
    (" ; ", "the query contains no statement"),
    ("-- nothing", "the query contains no statement"),
    ("SELECT 1; SELECT 2", "the query contains more than one statement"),
    ("SELECT 1; DROP TABLE st", "the query contains more than one statement"),
    ("CREATE TRIGGER y AFTER INSERT ON st BEGIN SELECT 1; END; DROP TABLE st", "the query contains more than one statement"),
    ("SELECT 1\0; DROP TABLE st", "the statement contains a NUL character"),
];

/// What is run, in this order.
const RUN: [&str; 13] = [
    "CREATE TABLE st (id INTEGER PRIMARY KEY, v)",
    "CREATE INDEX by_v ON st (v)",
    "CREATE TABLE temp_log (v)",
    "CREATE TRIGGER note AFTER INSERT ON st BEGIN SELECT CASE WHEN 1 THEN 2 END; INSERT INTO temp_log VALUES (new.v); END;",
    "INSERT INTO st (v) VALUES ('; BEGIN'), ('load_extension(')",
    "SELECT count(*) FROM temp_log /* ; VACUUM */;",
    "SELECT name, 'pragma_database_list' FROM pragma_table_info('st')",
    "PRAGMA table_info(st)",
    "EXPLAIN QUERY PLAN DELETE FROM st",
    "WITH a AS (SELECT 1 AS n) SELECT replace('a', 'a', n) FROM a",
    "UPDATE st SET v = 1 RETURNING id",
    "DROP TRIGGER note",
    "DROP TABLE temp_log",
];

/// What a read-only adapter takes for a read.
const READS: [&str; 7] = [
    "SELECT v FROM st",
    "VALUES (1)",
    "PRAGMA table_info(st)",
    "PRAGMA user_version",
    "EXPLAIN QUERY PLAN DELETE FROM st",
    "WITH gone AS (SELECT 1 AS n) SELECT n FROM gone",
    "SELECT replace('insert', 'a', 'update') -- DELETE",
];

/// What a read-only adapter refuses.
const WRITES: [&str; 7] = [
    "INSERT INTO st (v) VALUES (3)",
    "DELETE FROM st RETURNING id",
    "WITH gone AS (SELECT 1) UPDATE st SET v = 9",
    "WITH gone AS (SELECT 1) REPLACE INTO st SELECT 1, 2",
    "CREATE TABLE other (v)",
    "DROP TABLE st",
    "REINDEX",
];

/// What is said of a write on a read-only adapter.
const READ_ONLY: &str = "the statement writes, and the adapter is read-only";

/// A database: runs a statement, or says why not.
pub type Run<'a> = &'a dyn Fn(&str, &[Value]) -> Result<(), String>;

/// Runs the table against a database without tables, and against the same database by a read-only
/// adapter.
///
/// # Panics
/// Where the driver judges otherwise.
pub fn check(connector: &str, database: Run<'_>, read_only: Run<'_>) {
    for statement in RUN {
        assert_eq!(database(statement, &[]), Ok(()), "{statement}");
    }
    for (statement, word) in REFUSED {
        let expected = format!("connector `{connector}` does not run `{word}`");
        for run in [database, read_only] {
            assert_eq!(run(statement, &[]), Err(expected.clone()), "{statement}");
        }
    }
    for (statement, message) in NOT_ONE {
        for run in [database, read_only] {
            assert_eq!(run(statement, &[]), Err(message.to_owned()), "{statement:?}");
        }
    }
    for statement in READS {
        // A server may forbid what the driver sends.
        let told = read_only(statement, &[]);
        assert!(told.as_ref().err().is_none_or(|told| told == "the server forbids the statement"), "{statement}: {told:?}");
    }
    for statement in WRITES {
        assert_eq!(read_only(statement, &[]), Err(READ_ONLY.to_owned()), "{statement}");
    }
    assert_eq!(database("DELETE FROM st WHERE id = ?1", &[Value::I64(1)]), Ok(()));
    check_searches(database);
    assert_eq!(read_only("SELECT v FROM st WHERE id = ?1", &[Value::I64(2)]), Ok(()));
}

/// What is said of searches: `well-known` looks for `known` in a column `well`.
fn check_searches(database: Run<'_>) {
    const OF_SEARCH: &str = "SQLite refused a value or the result of a computation: a text is not a query of a full-text search; words with other characters \
                             than letters need quotes";
    const SEARCH: &str = "SELECT text FROM docs WHERE docs MATCH ?1";
    for statement in ["CREATE VIRTUAL TABLE docs USING fts5(text)", "INSERT INTO docs VALUES ('a well known word')"] {
        assert_eq!(database(statement, &[]), Ok(()), "{statement}");
    }
    let search = |statement: &str, text: &str| database(statement, &[Value::Text(text.to_owned())]);
    assert_eq!(search(SEARCH, "\"well-known\" AND text: word"), Ok(()));
    for text in ["well-known", "title: word", "well AND", "\"well"] {
        assert_eq!(search(SEARCH, text), Err(OF_SEARCH.to_owned()), "{text}");
        assert_eq!(search("DELETE FROM docs WHERE docs MATCH ?1", text), Err(OF_SEARCH.to_owned()), "{text}");
    }
    // A column that the author took for one is the author's mistake.
    let wrong = search("SELECT title FROM docs WHERE docs MATCH ?1", "word").expect_err("a column is missing");
    assert!(wrong.starts_with("SQLite does not understand the statement"), "{wrong}");
    assert_eq!(database("DROP TABLE docs", &[]), Ok(()));
}

/// What becomes of an infinite number, which JSON has no form for. Scripts have none: it is `null`
/// where their values end.
///
/// # Panics
/// Where the driver judges otherwise.
pub fn check_infinity(connector: &str, database: Run<'_>) {
    let to = match connector {
        "d1" => Some("D1"),
        "libsql" => Some("a libSQL server"),
        _ => None,
    };
    let expected = to.map_or(Ok(()), |to| Err(format!("an infinite number cannot be sent to {to}")));
    assert_eq!(database("SELECT ?1 AS v", &[Value::F64(f64::INFINITY)]), expected);
}
