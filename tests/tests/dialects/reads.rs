//! Statements that only read, in the forms of the servers' manuals and test suites: the build takes
//! each for a read, or says where it does not, and the server runs each where it may only read.
//!
//! A line of `tests/data/reads/DIALECT.sql` is a statement. One that begins with `@` and a word is
//! not run: MariaDB or the version of the packages does not know it, or it is not run where nothing
//! may be written.

use std::fs;

use millrace_bundler::statement::{Dialect, Substitution, compile};
use millrace_core::{
    app::{Access, Input},
    ports::{Command, Query},
};
use millrace_tests::{
    case::root,
    clickhouse,
    database::{Database, query},
    mysql::Mysql,
    postgres::Postgres,
};

/// The fewest statements of a dialect.
const FEWEST: usize = 150;

/// Runs the statements of a dialect in a database, each so that the server refuses a write.
/// `most_doubts`: how many of them the build may take for writes, with a warning.
fn check(name: &str, dialect: Dialect, most_doubts: usize, run: &dyn Fn(&str) -> Result<(), String>) {
    let file = root().join(format!("tests/data/reads/{name}.sql"));
    let text = fs::read_to_string(&file).unwrap();
    let (mut wrong, mut doubts, mut count) = (Vec::new(), Vec::new(), 0);
    for line in text.lines() {
        let (statement, is_run) = match line.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
            Some((_, statement)) => (statement, false),
            None => (line, true),
        };
        count += 1;
        match compile(statement, dialect, Substitution::Bind, &[] as &[Input]) {
            Err(problems) => wrong.push(format!("{statement}\n  is refused: {}", problems[0].message)),
            Ok(compiled) => match (compiled.statement.access, compiled.doubt) {
                (Access::Read, None) => {}
                (Access::Write, Some(doubt)) => {
                    let place = statement.get(doubt.warning.range.clone());
                    assert!(place.is_some_and(|place| !place.is_empty()), "{statement}: {doubt:?}");
                    let settled = matches!(dialect, Dialect::Postgres | Dialect::MySql);
                    assert_eq!(doubt.is_settled_by_kind, settled, "{statement}");
                    assert!(doubt.warning.help.as_deref().is_some_and(|help| help.contains("if it")), "{statement}: {doubt:?}");
                    doubts.push(format!("{statement}: {}", doubt.warning.message));
                }
                (access, _) => wrong.push(format!("{statement}\n  is {access:?} without a word")),
            },
        }
        if is_run && let Err(error) = run(statement) {
            wrong.push(format!("{statement}\n  the server: {error}"));
        }
    }
    eprintln!("{name}: {count} statements, {} of them with a warning:\n{}", doubts.len(), doubts.join("\n"));
    assert!(wrong.is_empty(), "{name}: {}\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= FEWEST, "{name}: only {count} statements");
    assert!(doubts.len() <= most_doubts, "{name}: {} statements are taken for writes", doubts.len());
}

/// Runs a statement that the database has to refuse if it writes.
fn guarded(database: &Database, text: &str) -> Result<(), String> {
    let query = Query { command: Command::Statement { text, values: &[] }, access: Access::Declared, ..query(text) };
    database.run_with(&query).map(drop).map_err(|error| format!("{error:?}"))
}

fn fill(database: &Database, statements: &[&str]) {
    for statement in statements {
        database.run(statement, &[]).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    }
}

#[test]
fn postgres() {
    let server = Postgres::start(&[]);
    let database = server.open();
    fill(
        &database,
        &[
            "CREATE TABLE t (id int PRIMARY KEY, a int, b text, c numeric, d date, ts timestamptz, j jsonb, arr int[])",
            "INSERT INTO t VALUES (1, 1, 'x', 1.5, '2024-01-01', '2024-01-01', '{\"k\":1}', '{1,2}'), (2, 2, 'y', 2, '2024-02-01', now(), '{}', '{3}')",
            "CREATE TABLE u (id int, t_id int, name text)",
            "INSERT INTO u VALUES (1, 1, 'n')",
            "CREATE TYPE pair AS (x int, y int)",
            "CREATE TABLE places (p pair)",
            "CREATE TABLE words (lock int, replace int, merge int, update int)",
        ],
    );
    check("postgres", Dialect::Postgres, 20, &|text| guarded(&database, text));
}

#[test]
fn mysql() {
    let server = Mysql::start(&[]);
    let database = server.open();
    fill(
        &database,
        &[
            "CREATE TABLE t (id INT PRIMARY KEY, a INT DEFAULT 1, b VARCHAR(20), c DECIMAL(5, 2), d DATE, j JSON, KEY t_a (a))",
            "INSERT INTO t VALUES (1, 1, 'x', 1.5, '2024-01-01', '{\"k\":1}')",
            "CREATE TABLE u (id INT, t_id INT)",
            "INSERT INTO u VALUES (1, 1)",
            "CREATE TABLE s (b TEXT, FULLTEXT (b))",
            "CREATE TABLE words (`lock` INT, `update` INT)",
            "CREATE TABLE parts (a INT) PARTITION BY HASH (a) PARTITIONS 2",
            "CREATE TABLE versions (a INT) WITH SYSTEM VERSIONING",
        ],
    );
    check("mysql", Dialect::MySql, 30, &|text| guarded(&database, text));
}

#[test]
fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.db");
    let made = rusqlite::Connection::open(&file).unwrap();
    made.execute_batch(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, j); CREATE INDEX t_a ON t (a); INSERT INTO t VALUES (1, 1, 'x', 2, '{\"k\":1}');
         CREATE TABLE u (id, t_id REFERENCES t (id)); INSERT INTO u VALUES (1, 1); CREATE TABLE u2 (id); CREATE VIRTUAL TABLE s USING fts5(b);
         CREATE TABLE words (update_at, lock, \"update\");",
    )
    .unwrap();
    drop(made);
    let connection = millrace_tests::database::connection("sqlite", &file.display().to_string(), &[]);
    let database = Database::open(millrace_core::ports::Connection { read_only: true, ..connection });
    check("sqlite", Dialect::Sqlite, 0, &|text| database.run(text, &[]).map(drop).map_err(|error| format!("{error:?}")));
}

#[test]
fn clickhouse() {
    let server = clickhouse::start(&[]);
    let database = clickhouse::open(&server);
    fill(
        &database,
        &[
            "CREATE TABLE t (id UInt32, a Int32, b String, d Date, arr Array(Int32)) ENGINE = ReplacingMergeTree ORDER BY id SAMPLE BY id",
            "INSERT INTO t VALUES (1, 1, 'x', '2024-01-01', [1, 2])",
            "CREATE TABLE u (id UInt32, t_id Int32) ENGINE = MergeTree ORDER BY id",
        ],
    );
    let connection = clickhouse::settings(&server, &[]);
    let database = Database::open(millrace_core::ports::Connection { read_only: true, ..connection });
    let run = |text: &str| {
        let query = Query { command: Command::Statement { text, values: &[] }, access: Access::Read, ..query(text) };
        database.run_with(&query).map(drop).map_err(|error| format!("{error:?}"))
    };
    check("clickhouse", Dialect::ClickHouse, 0, &run);
}
