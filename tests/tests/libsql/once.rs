//! Writes that happen once for a key, on a real server: also where answers get lost, the server dies, and two ask at once.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{CallRecord, Command, Query, RecordedWrite},
    value::{Rows, Value},
};
use millrace_tests::{
    cutting::cutting_libsql,
    database::{Database, connection, query, text},
    sqld::Sqld,
    wait,
};

const RETURNING: &str = "INSERT INTO t (k) VALUES (?1) RETURNING id, k";
const PLAIN: &str = "INSERT INTO t (k) VALUES (?1)";

fn open(port: u16) -> Database {
    Database::open(connection("libsql", &format!("http://127.0.0.1:{port}"), &[]))
}

fn shop() -> (Sqld, Database) {
    let server = Sqld::start(None);
    let database = open(server.port);
    database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT UNIQUE)", &[]).unwrap();
    (server, database)
}

fn once(database: &Database, statement: &str, values: &[Value], key: &str, now_s: i64) -> Result<RecordedWrite> {
    let query = Query { command: Command::Statement { text: statement, values }, ..query(statement) };
    database.write_once(&query, CallRecord { key, now_s, expires_s: now_s + 60 })
}

fn row(id: i64, k: &str) -> Rows {
    Rows { columns: ["id".to_owned(), "k".to_owned()].into(), rows: vec![vec![Value::I64(id), text(k)]], affected: 0, truncated: false }
}

fn affected(affected: u64) -> Rows {
    Rows { affected, ..Rows::default() }
}

#[test]
fn a_write_happens_once_for_a_key() {
    let (_server, database) = shop();
    // The table is made by the first write that needs it.
    assert_eq!(once(&database, RETURNING, &[text("a")], "k", 0), Ok(RecordedWrite::Made(row(1, "a"))));
    assert_eq!(once(&database, RETURNING, &[text("b")], "k", 59), Ok(RecordedWrite::MadeBefore(row(1, "a"))));
    assert_eq!(once(&database, PLAIN, &[text("b")], "l", 0), Ok(RecordedWrite::Made(affected(1))));
    assert_eq!(once(&database, PLAIN, &[text("b")], "l", 0), Ok(RecordedWrite::MadeBefore(affected(1))));
    let all = "UPDATE t SET k = k || '!'";
    assert_eq!(once(&database, all, &[], "m", 0), Ok(RecordedWrite::Made(affected(2))));
    assert_eq!(once(&database, all, &[], "m", 0), Ok(RecordedWrite::MadeBefore(affected(2))));
    assert_eq!(once(&database, "CREATE TABLE u (v)", &[], "n", 0), Ok(RecordedWrite::Made(affected(0))));
    assert_eq!(once(&database, "CREATE TABLE u (v)", &[], "n", 0), Ok(RecordedWrite::MadeBefore(affected(0))));
    let none = "DELETE FROM t WHERE id = 99 RETURNING id";
    let Ok(RecordedWrite::Made(rows)) = once(&database, none, &[], "o", 0) else { panic!("not made") };
    assert_eq!(once(&database, none, &[], "o", 0), Ok(RecordedWrite::MadeBefore(rows)));
    // A record that is over.
    assert_eq!(once(&database, PLAIN, &[text("c")], "l", 60), Ok(RecordedWrite::Made(affected(1))));
    assert_eq!(database.rows("SELECT k FROM t ORDER BY id"), [[text("a!")], [text("b!")], [text("c")]]);
    assert_eq!(database.prepare_records(), Ok(()));
    let (_server, database) = shop();
    assert_eq!((database.prepare_records(), database.prepare_records()), (Ok(()), Ok(())));
    assert_eq!(database.rows("SELECT count(*) FROM millrace_calls"), [[Value::I64(0)]]);
}

#[test]
fn a_write_that_fails_leaves_no_record_and_no_lock() {
    let (_server, database) = shop();
    once(&database, PLAIN, &[text("a")], "k", 0).unwrap();
    for statement in [RETURNING, PLAIN] {
        let Error { kind, message, .. } = once(&database, statement, &[text("a")], "l", 0).unwrap_err();
        assert_eq!((kind, message.as_str()), (ErrorKind::Constraint, "a UNIQUE constraint refused the change: `t.k`"));
        let unknown = once(&database, "INSERT INTO nowhere VALUES (1)", &[], "l", 0).unwrap_err();
        assert_eq!((unknown.kind, unknown.message.as_str()), (ErrorKind::Syntax, "SQLite does not understand the statement"));
    }
    // Too many rows are no change.
    once(&database, PLAIN, &[text("b")], "m", 0).unwrap();
    let many = Query { max_rows: 1, ..query("UPDATE t SET k = k || '!' RETURNING id") };
    let error = database.write_once(&many, CallRecord { key: "n", now_s: 0, expires_s: 60 }).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::TooLarge, "the result has more than `max_rows`, 1 rows"));
    for refused in ["BEGIN", "COMMIT", "ATTACH 'x' AS y", "CREATE TEMP TABLE x (y)"] {
        assert_eq!(once(&database, refused, &[], "o", 0).unwrap_err().kind, ErrorKind::Denied, "{refused}");
    }
    assert_eq!(once(&database, RETURNING, &[text("c")], "l", 0), Ok(RecordedWrite::Made(row(3, "c"))));
    assert_eq!(database.rows("SELECT count(*) FROM millrace_calls"), [[Value::I64(3)]]);
    // A table of somebody else's.
    database.run("DROP TABLE millrace_calls", &[]).unwrap();
    database.run("CREATE TABLE millrace_calls (a)", &[]).unwrap();
    for error in [once(&database, PLAIN, &[text("d")], "p", 0).unwrap_err(), database.prepare_records().unwrap_err()] {
        assert_eq!(error.kind, ErrorKind::Configuration, "{error:?}");
    }
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(3)]]);
}

#[test]
fn expired_records_are_removed_by_later_writes() {
    let (_server, database) = shop();
    for number in 0..120 {
        once(&database, PLAIN, &[text(&number.to_string())], &format!("k{number}"), 0).unwrap();
    }
    once(&database, PLAIN, &[text("a")], "a", 60).unwrap();
    assert_eq!(database.rows("SELECT count(*) FROM millrace_calls"), [[Value::I64(21)]]);
}

const CALLERS: usize = 5;
const CALLS: usize = 200;

#[test]
fn a_thousand_answers_get_lost_after_the_commit_and_no_write_is_made_twice() {
    let (server, database) = shop();
    database.prepare_records().unwrap();
    let port = server.port;
    let call = move |caller: usize| {
        let (proxy, cuts) = cutting_libsql(port);
        let database = open(proxy.address.port());
        for number in 0..CALLS {
            let key = format!("{caller}-{number}");
            let statement = if number % 2 == 0 { RETURNING } else { PLAIN };
            cuts.store(true, Ordering::SeqCst);
            // Neither it nor the attempt after it hears anything.
            let lost = once(&database, statement, &[text(&key)], &key, 0).unwrap_err();
            assert!(matches!(lost.kind, ErrorKind::Unavailable | ErrorKind::Busy), "{lost:?}");
            cuts.store(false, Ordering::SeqCst);
            match once(&database, statement, &[text(&key)], &key, 0) {
                Ok(RecordedWrite::MadeBefore(rows)) if number % 2 == 1 => assert_eq!(rows, affected(1)),
                Ok(RecordedWrite::MadeBefore(rows)) => {
                    let found = database.run("SELECT id, k FROM t WHERE k = ?1", &[text(&key)]).unwrap();
                    assert_eq!(rows, found, "{key}");
                }
                other => panic!("{key}: {other:?}"),
            }
        }
    };
    let callers: Vec<_> = (0..CALLERS).map(|caller| thread::spawn(move || call(caller))).collect();
    callers.into_iter().for_each(|caller| caller.join().unwrap());
    let count = i64::try_from(CALLERS * CALLS).unwrap();
    assert_eq!(database.rows("SELECT count(*), count(DISTINCT k) FROM t"), [[Value::I64(count), Value::I64(count)]]);
    assert_eq!(database.rows("SELECT count(*) FROM millrace_calls"), [[Value::I64(count)]]);
}

/// Sends a call until it is known what became of it.
fn until_known(database: &Database, statement: &str, key: &str) -> Rows {
    loop {
        match once(database, statement, &[text(key)], key, 0) {
            Ok(RecordedWrite::Made(rows) | RecordedWrite::MadeBefore(rows)) => return rows,
            Ok(RecordedWrite::Running) => {}
            Err(error) if matches!(error.kind, ErrorKind::Unavailable | ErrorKind::Busy | ErrorKind::Protocol) => {}
            other => panic!("{key}: {other:?}"),
        }
        wait::moment();
    }
}

#[test]
fn a_server_that_is_killed_under_writes_makes_each_once() {
    let (mut server, database) = shop();
    database.prepare_records().unwrap();
    let port = server.port;
    let (done, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let (done, progress) = (Arc::clone(&done), Arc::clone(&progress));
            thread::spawn(move || {
                let database = open(port);
                let mut made = Vec::new();
                while !done.load(Ordering::SeqCst) {
                    let key = format!("{caller}-{}", made.len());
                    let statement = if made.len() % 2 == 0 { RETURNING } else { PLAIN };
                    let rows = until_known(&database, statement, &key);
                    // Sent again, it says the same.
                    assert_eq!(until_known(&database, statement, &key), rows, "{key}");
                    made.push(key);
                    progress.fetch_add(1, Ordering::SeqCst);
                }
                made.len()
            })
        })
        .collect();
    for more in [5, 8, 11, 3, 15] {
        wait::until_more("no write is made", more, || progress.load(Ordering::SeqCst));
        server.kill();
        server.restart();
    }
    done.store(true, Ordering::SeqCst);
    let made: usize = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
    let count = i64::try_from(made).unwrap();
    assert!(count > 20, "{count}");
    let found =
        Database::open(connection("libsql", &format!("http://127.0.0.1:{port}"), &[])).rows("SELECT count(*), count(DISTINCT k) FROM t");
    assert_eq!(found, [[Value::I64(count), Value::I64(count)]]);
}

#[test]
fn of_two_who_ask_at_once_one_writes() {
    let (server, database) = shop();
    database.prepare_records().unwrap();
    let port = server.port;
    for (round, statement) in [RETURNING, PLAIN].into_iter().cycle().take(20).enumerate() {
        let key = format!("k{round}");
        let together = Arc::new(Barrier::new(2));
        let callers: Vec<_> = (0..2)
            .map(|_| {
                let (key, together) = (key.clone(), Arc::clone(&together));
                thread::spawn(move || {
                    let database = open(port);
                    database.ping().unwrap();
                    together.wait();
                    format!("{:?}", until_known(&database, statement, &key))
                })
            })
            .collect();
        let answers: Vec<String> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
        assert_eq!(answers[0], answers[1], "{key}");
    }
    assert_eq!(database.rows("SELECT count(*), count(DISTINCT k) FROM t"), [[Value::I64(20), Value::I64(20)]]);
}
