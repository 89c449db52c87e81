//! Writes with a record: once, and found again.

use std::path::Path;

use millrace_core::{
    ErrorKind, ErrorParts, Result,
    ports::{CallRecord, Command, Connection, Connector, Query, RecordedWrite},
    value::{Rows, Value},
};
use tempfile::tempdir;

use super::support::{Isolate, block_on, connection, query, text};

const INSERT: &str = "INSERT INTO t (v) VALUES (?1) RETURNING id, v";

fn once(isolate: &Isolate, statement: &str, values: &[Value], key: &str, now_s: i64) -> Result<RecordedWrite> {
    write(isolate, &Query { command: Command::Statement { text: statement, values }, ..query(statement) }, key, now_s)
}

fn write(isolate: &Isolate, query: &Query<'_>, key: &str, now_s: i64) -> Result<RecordedWrite> {
    let deadline_ms = isolate.clock.now_ms.get() + query.deadline_ms;
    let record = CallRecord { key, now_s, expires_s: now_s + 60 };
    block_on(isolate.sqlite.write_once(Query { deadline_ms, ..query.clone() }, record))
}

fn shop() -> Isolate {
    Isolate::memory("CREATE TABLE t (id INTEGER PRIMARY KEY, v UNIQUE)")
}

fn row(id: i64, v: &str) -> Rows {
    Rows {
        columns: ["id".to_owned(), "v".to_owned()].into(),
        rows: vec![vec![Value::I64(id), text(v)]],
        affected: 0,
        truncated: false,
        ..Rows::default()
    }
}

fn count(isolate: &Isolate, table: &str) -> Value {
    isolate.rows(&format!("SELECT count(*) FROM {table}"))[0][0].clone()
}

#[test]
fn a_write_happens_once_for_a_key() {
    let isolate = shop();
    assert_eq!(once(&isolate, INSERT, &[text("a")], "k", 0), Ok(RecordedWrite::Made(row(1, "a"))));
    // Whatever else the second call says.
    assert_eq!(once(&isolate, INSERT, &[text("b")], "k", 59), Ok(RecordedWrite::MadeBefore(row(1, "a"))));
    assert_eq!(once(&isolate, INSERT, &[text("b")], "l", 59), Ok(RecordedWrite::Made(row(2, "b"))));
    assert_eq!(count(&isolate, "t"), Value::I64(2));
    let all = "UPDATE t SET v = v || '!'";
    let changed = Rows { affected: 2, ..Rows::default() };
    assert_eq!(once(&isolate, all, &[], "m", 0), Ok(RecordedWrite::Made(changed.clone())));
    assert_eq!(once(&isolate, all, &[], "m", 0), Ok(RecordedWrite::MadeBefore(changed)));
    assert_eq!(isolate.rows("SELECT v FROM t"), [[text("a!")], [text("b!")]]);
}

#[test]
fn a_record_expires_and_is_removed_by_later_writes() {
    let isolate = shop();
    for number in 0..250 {
        once(&isolate, INSERT, &[text(&format!("v{number}"))], &format!("k{number}"), 0).unwrap();
    }
    assert_eq!(once(&isolate, INSERT, &[text("again")], "k249", 60), Ok(RecordedWrite::Made(row(251, "again"))));
    // Its own, a hundred others, and the new one.
    assert_eq!(count(&isolate, "millrace_calls"), Value::I64(250 - 101 + 1));
    for key in ["x", "y"] {
        once(&isolate, INSERT, &[text(key)], key, 60).unwrap();
    }
    assert_eq!(count(&isolate, "millrace_calls"), Value::I64(3));
}

#[test]
fn a_write_that_fails_leaves_no_record() {
    let isolate = shop();
    once(&isolate, INSERT, &[text("a")], "k", 0).unwrap();
    assert_eq!(once(&isolate, INSERT, &[text("a")], "l", 0).unwrap_err().kind, ErrorKind::Constraint);
    assert_eq!(once(&isolate, INSERT, &[text("b")], "l", 0), Ok(RecordedWrite::Made(row(2, "b"))));
    // Too many rows: nothing is changed.
    let all = Query { max_rows: 1, ..query("UPDATE t SET v = v || '!' RETURNING id") };
    assert_eq!(write(&isolate, &all, "m", 0).unwrap_err().kind, ErrorKind::TooLarge);
    let late = "INSERT INTO t (v) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'n' || i FROM n";
    isolate.clock.tick_ms.set(100);
    assert_eq!(once(&isolate, late, &[], "m", 0).unwrap_err().kind, ErrorKind::TimedOut);
    isolate.clock.tick_ms.set(0);
    assert_eq!((count(&isolate, "t"), count(&isolate, "millrace_calls")), (Value::I64(2), Value::I64(2)));
    // Not even the table is left of a first write that failed.
    let isolate = shop();
    assert_eq!(once(&isolate, "INSERT INTO t (id) VALUES ('x')", &[], "k", 0).unwrap_err().kind, ErrorKind::Data);
    assert_eq!(isolate.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'millrace%'"), Vec::<Vec<Value>>::new());
}

#[test]
fn a_result_too_large_for_a_record_is_not_kept_and_the_change_is() {
    let isolate = shop();
    let large = Query { max_bytes: 4 << 20, ..query("INSERT INTO t (v) VALUES (1) RETURNING id, hex(zeroblob(1000000))") };
    assert!(matches!(write(&isolate, &large, "k", 0), Ok(RecordedWrite::Made(_))));
    assert_eq!(write(&isolate, &large, "k", 0), Ok(RecordedWrite::MadeBeforeUnknown));
    assert_eq!(count(&isolate, "t"), Value::I64(1));
}

#[test]
fn what_no_statement_may_do_none_may_do_with_a_record() {
    let isolate = shop();
    for refused in ["BEGIN", "COMMIT", "SAVEPOINT a", "ATTACH 'x' AS y", "PRAGMA user_version = 1", "VACUUM", "CREATE TEMP TABLE x (y)"] {
        let ErrorParts { kind, message, .. } = once(&isolate, refused, &[], "k", 0).unwrap_err().into_parts();
        assert_eq!(kind, ErrorKind::Denied, "{refused}: {message}");
    }
    assert_eq!(once(&isolate, "INSERT INTO t (v) VALUES (1); DELETE FROM t", &[], "k", 0).unwrap_err().kind, ErrorKind::Syntax);
    assert_eq!(once(&isolate, INSERT, &[], "k", 0).unwrap_err().message, "the statement takes 1 values, and 0 were given");
    assert_eq!(count(&isolate, "t"), Value::I64(0));
}

#[test]
fn two_isolates_agree_and_a_lock_is_waited_for() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, v UNIQUE)").unwrap();
    let (first, second) = (Isolate::new(folder.path(), connection("shop.db")), Isolate::new(folder.path(), connection("shop.db")));
    assert_eq!(once(&first, INSERT, &[text("a")], "k", 0), Ok(RecordedWrite::Made(row(1, "a"))));
    assert_eq!(once(&second, INSERT, &[text("a")], "k", 0), Ok(RecordedWrite::MadeBefore(row(1, "a"))));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    second.clock.at(20, move || other.execute_batch("COMMIT").unwrap());
    assert_eq!(once(&second, INSERT, &[text("b")], "l", 0), Ok(RecordedWrite::Made(row(2, "b"))));
    assert_eq!(once(&first, INSERT, &[text("b")], "l", 0), Ok(RecordedWrite::MadeBefore(row(2, "b"))));
}

#[test]
fn a_table_that_cannot_be_made_is_the_operators_affair() {
    let folder = tempdir().unwrap();
    let open = |read_only| Isolate::new(folder.path(), Connection { read_only, ..connection("shop.db") });
    let prepare = |isolate: &Isolate| block_on(isolate.sqlite.prepare_records(1000));
    rusqlite::Connection::open(folder.path().join("shop.db")).unwrap().execute_batch("CREATE TABLE t (id, v)").unwrap();
    let ErrorParts { kind, source, .. } = prepare(&open(true)).unwrap_err().into_parts();
    assert_eq!(kind, ErrorKind::Configuration);
    assert!(source.unwrap().contains("CREATE TABLE IF NOT EXISTS millrace_calls (key TEXT"));
    assert_eq!(once(&open(true), INSERT, &[text("a")], "k", 0).unwrap_err().kind, ErrorKind::Denied);
    assert_eq!((prepare(&open(false)), prepare(&open(false)), prepare(&open(true))), (Ok(()), Ok(()), Ok(())));
    // A table of somebody else's.
    let isolate =
        Isolate::new(Path::new("/"), Connection { seed: Some("CREATE TABLE millrace_calls (a)".into()), ..connection(":memory:") });
    let message = "the table `millrace_calls`, which tools with `idempotency` need, does not have the columns that Millrace made it with";
    for error in [once(&isolate, "CREATE TABLE t (v)", &[], "k", 0).unwrap_err(), prepare(&isolate).unwrap_err()] {
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Configuration, message));
    }
}
