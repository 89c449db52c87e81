//! What no statement may do, and what SQLite refuses.

use std::path::Path;

use millrace_core::{
    ErrorKind::{self, Constraint, Data, Denied, Syntax},
    ports::Connection,
    value::Value,
};

use crate::support::{Isolate, connection, text};

const SCHEMA: &str = "
    CREATE TABLE parent (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT NOT NULL, age INT CONSTRAINT grown_up CHECK (age >= 18));
    CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INT REFERENCES parent (id)) STRICT;
    CREATE TABLE pair (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE UNIQUE INDEX lowered ON parent (lower(name));
    CREATE TRIGGER no_secret BEFORE INSERT ON pair WHEN new.a = 'secret' BEGIN SELECT RAISE(ABORT, 'the value secret is taken'); END;
    INSERT INTO parent VALUES (1, 'a@example.com', 'Ada', 36);
    INSERT INTO pair VALUES (1, 2);";

/// What is refused, and in which words, is a table of all drivers of the dialect; see
/// `tests/src/sqlite_text.rs`.
#[test]
fn what_is_refused_leaves_no_file_and_a_connection_that_works() {
    let folder = tempfile::tempdir().unwrap();
    let isolate = Isolate::new(folder.path(), Connection { seed: Some(SCHEMA.into()), ..connection("shop.db") });
    let cases = [
        "ATTACH 'other.db' AS other",
        "EXPLAIN ATTACH 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "BEGIN IMMEDIATE",
        "COMMIT",
        "SAVEPOINT a",
        "CREATE TABLE temp.t (v)",
        "SELECT * FROM 'pragma_database_list'",
        "PRAGMA journal_mode = WAL",
    ];
    for statement in cases {
        let error = isolate.error(statement);
        assert_eq!(error.kind, Denied, "{statement}: {error:?}");
        assert_eq!(isolate.rows("SELECT 1"), [[Value::I64(1)]], "after {statement}");
    }
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["shop.db"]);
}

#[test]
fn questions_and_ordinary_changes_are_allowed() {
    let isolate = Isolate::memory(SCHEMA);
    let statements = [
        "PRAGMA table_info(parent)",
        "PRAGMA main.table_info('parent')",
        "SELECT name FROM pragma_table_info('parent')",
        "PRAGMA foreign_key_list(child)",
        "PRAGMA user_version",
        "PRAGMA integrity_check",
        "SELECT sql FROM sqlite_schema",
        "EXPLAIN QUERY PLAN SELECT * FROM parent",
        "CREATE VIEW grown AS SELECT * FROM parent",
        "CREATE VIRTUAL TABLE words USING fts5(body)",
        "CREATE TRIGGER note AFTER INSERT ON parent BEGIN INSERT INTO words VALUES (new.name); END",
        "INSERT INTO parent VALUES (2, 'g@example.com', 'Grace', 85)",
        "SELECT body FROM words WHERE words MATCH 'grace'",
        "DELETE FROM words",
        "DROP TRIGGER note",
        "DROP TABLE words",
        "CREATE VIRTUAL TABLE places USING rtree(id, x0, x1)",
        "ALTER TABLE pair RENAME TO two",
        "ANALYZE",
        "REINDEX",
        "SELECT json_extract('{\"a\":1}', '$.a')",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT * FROM n",
        "SELECT 1;",
        "SELECT 1; -- and no more",
        "  SELECT 1 ; /* nothing */ ; ",
    ];
    for statement in statements {
        isolate.run(statement, &[]).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    }
}

#[test]
fn a_wrong_statement_is_a_syntax_error() {
    let isolate = Isolate::memory(SCHEMA);
    let cases = [
        ("", "the query contains no statement"),
        (" ; ", "the query contains no statement"),
        ("-- nothing", "the query contains no statement"),
        ("SELEC 1", "SQLite does not understand the statement at byte 0"),
        ("  SELEC 1  ", "SQLite does not understand the statement at byte 2"),
        ("SELECT 'open", "SQLite does not understand the statement at byte 7"),
        ("SELECT * FROM nowhere", "SQLite does not understand the statement"),
        ("SELECT nothing FROM parent", "SQLite does not understand the statement at byte 7"),
        ("SELECT 1; SELECT 2", "the query contains more than one statement"),
        ("SELECT 1; DROP TABLE parent", "the query contains more than one statement"),
        ("SELECT 1; gibberish", "SQLite does not understand the statement at byte 10"),
        ("SELECT 1\0; DROP TABLE parent", "the statement contains a NUL character"),
        ("SELECT ?1", "the statement takes 1 values, and 0 were given"),
        ("SELECT ?3", "the statement takes 3 values, and 0 were given"),
    ];
    for (statement, message) in cases {
        let error = isolate.error(statement);
        assert_eq!((error.kind, error.message.as_str()), (Syntax, message), "{statement:?}: {error:?}");
        assert!(!error.source.as_deref().unwrap_or_default().contains("SELECT"), "the source must not contain the statement: {statement}");
    }
    let surplus = isolate.run("SELECT ?1", &[Value::Null, Value::Null]).unwrap_err();
    assert_eq!((surplus.kind, surplus.message.as_str()), (Syntax, "the statement takes 1 values, and 2 were given"));
    assert_eq!(isolate.rows("SELECT count(*) FROM parent"), [[Value::I64(1)]]);
}

#[test]
fn a_constraint_is_named_and_no_value_is_shown() {
    let isolate = Isolate::memory(SCHEMA);
    let cases: [(&str, &str); 8] = [
        ("INSERT INTO parent (email, name) VALUES ('a@example.com', 'B')", "a UNIQUE constraint refused the change: `parent.email`"),
        ("INSERT INTO parent (name) VALUES ('ADA')", "a UNIQUE constraint refused the change: `index 'lowered'`"),
        ("INSERT INTO parent (id, name) VALUES (1, 'B')", "a PRIMARY KEY constraint refused the change: `parent.id`"),
        ("INSERT INTO pair VALUES (1, 2)", "a PRIMARY KEY constraint refused the change: `pair.a, pair.b`"),
        ("INSERT INTO parent (name) VALUES (NULL)", "a NOT NULL constraint refused the change: `parent.name`"),
        ("INSERT INTO parent (name, age) VALUES ('secret', 17)", "a CHECK constraint refused the change: `grown_up`"),
        ("INSERT INTO child VALUES (1, 99)", "a FOREIGN KEY constraint refused the change"),
        ("INSERT INTO pair VALUES ('secret', 1)", "a trigger of the database refused the change"),
    ];
    let refused = |why: &str| format!("SQLite refused a value or the result of a computation: {why}");
    let json = refused("a JSON document, or a path into one, is not valid");
    let search = refused("a text is not a query of a full-text search; words with other characters than letters need quotes");
    isolate.run("CREATE VIRTUAL TABLE words USING fts5 (text)", &[]).unwrap();
    let of_data = [
        ("DELETE FROM pair WHERE a = 1 RETURNING json('{secret')", json.clone()),
        ("SELECT json_extract('{secret', '$')", json.clone()),
        ("SELECT json_extract('{}', 'secret')", json),
        ("INSERT INTO child VALUES (1, 'secret')", "a value does not have the type of its column".to_owned()),
        ("INSERT INTO parent (id, name) VALUES ('secret', 'B')", "a value does not have the type of its column".to_owned()),
        ("SELECT abs(-9223372036854775807 - 1)", refused("a number is out of range")),
        ("SELECT * FROM words WHERE words MATCH 'secret AND'", search.clone()),
        ("SELECT * FROM words WHERE words MATCH '\"secret'", search),
    ];
    let of_constraints = cases.map(|(statement, message)| (statement, Constraint, message.to_owned()));
    let of_data = of_data.map(|(statement, message)| (statement, Data, message));
    for (statement, kind, message) in of_constraints.into_iter().chain(of_data) {
        let error = isolate.error(statement);
        assert_eq!((error.kind, error.message.clone()), (kind, message), "{statement}: {:?}", error.source);
        assert!(error.source.is_some(), "{statement}");
    }
    assert_eq!(
        isolate.rows("SELECT (SELECT count(*) FROM parent), (SELECT count(*) FROM child), (SELECT count(*) FROM pair)"),
        [[Value::I64(1), Value::I64(0), Value::I64(1)]]
    );
}

#[test]
fn foreign_keys_can_be_left_alone() {
    let options = vec![("foreign_keys".to_owned(), millrace_core::secret::Secret::new("false".to_owned()))];
    let seed = Some(format!("{SCHEMA}; INSERT INTO child VALUES (7, 77)"));
    let isolate = Isolate::new(Path::new("/"), Connection { options, seed, ..connection(":memory:") });
    assert_eq!(isolate.run("INSERT INTO child VALUES (1, 99)", &[]).unwrap().affected, 1);
}

#[test]
fn a_read_only_adapter_reads() {
    let folder = tempfile::tempdir().unwrap();
    let seed = || Some(SCHEMA.to_owned());
    Isolate::new(folder.path(), Connection { seed: seed(), ..connection("shop.db") }).ping().unwrap();
    let readers = [
        Connection { read_only: true, ..connection("shop.db") },
        Connection { read_only: true, ..connection("file:shop.db?immutable=1") },
        connection("file:shop.db?mode=ro"),
        Connection { read_only: true, seed: seed(), ..connection(":memory:") },
    ];
    for reader in readers {
        let isolate = Isolate::new(folder.path(), reader);
        assert_eq!(isolate.rows("SELECT name FROM parent"), [[text("Ada")]]);
        for statement in [
            "INSERT INTO pair VALUES (3, 4)",
            "DELETE FROM pair RETURNING a",
            "WITH gone AS (SELECT 1) UPDATE pair SET a = 9",
            "CREATE TABLE t (v)",
            "DROP TABLE pair",
            "ANALYZE",
            "REINDEX",
        ] {
            let error = isolate.error(statement);
            assert_eq!((error.kind, error.message.as_str()), (Denied, "the statement writes, and the adapter is read-only"), "{statement}");
        }
        assert_eq!(isolate.error("PRAGMA query_only = 0").kind, Denied);
        assert_eq!(isolate.rows("SELECT count(*) FROM pair"), [[Value::I64(1)]]);
    }
    let mixed = Isolate::try_new(folder.path(), connection("file:shop.db?immutable=1")).err().unwrap();
    assert_eq!(mixed.kind, ErrorKind::Configuration);
}
