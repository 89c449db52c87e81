//! Writes that happen once for a key: also where connections are cut after the commit, the server is killed, and two ask at once.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use millrace_core::{
    Error,
    ErrorKind::{Configuration, Constraint, Denied, Syntax, TimedOut, TooLarge, Unavailable},
    Result,
    ports::{CallRecord, Command, Connection, Query, RecordedWrite},
    value::{Rows, Value},
};
use millrace_tests::{
    cutting::{self, cutting},
    database::{Database, connection, query, text},
    mysql::Mysql,
};

const RETURNING: &str = "INSERT INTO t (k) VALUES (?) RETURNING id, k";
const PLAIN: &str = "INSERT INTO t (k) VALUES (?)";

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

fn shop() -> (Mysql, Database) {
    let server = Mysql::start(&[]);
    let database = server.open();
    database.run("CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, k varchar(99) UNIQUE) ENGINE = InnoDB", &[]).unwrap();
    (server, database)
}

#[test]
fn a_write_happens_once_for_a_key() {
    let (_server, database) = shop();
    assert_eq!(once(&database, RETURNING, &[text("a")], "k", 0), Ok(RecordedWrite::Made(row(1, "a"))));
    assert_eq!(once(&database, RETURNING, &[text("b")], "k", 59), Ok(RecordedWrite::MadeBefore(row(1, "a"))));
    assert_eq!(once(&database, PLAIN, &[text("b")], "l", 0), Ok(RecordedWrite::Made(affected(1))));
    assert_eq!(once(&database, PLAIN, &[text("b")], "l", 0), Ok(RecordedWrite::MadeBefore(affected(1))));
    // A record that is over.
    assert_eq!(once(&database, PLAIN, &[text("c")], "l", 60), Ok(RecordedWrite::Made(affected(1))));
    // Values of types that JSON does not have come back as they were.
    let typed = "INSERT INTO t (k) VALUES (?) RETURNING 1.50, X'dead', CURDATE(), JSON_OBJECT('a', 1)";
    let Ok(RecordedWrite::Made(made)) = once(&database, typed, &[text("d")], "m", 0) else { panic!("not made") };
    assert_eq!(once(&database, typed, &[text("d")], "m", 0), Ok(RecordedWrite::MadeBefore(made)));
    assert_eq!(database.rows("SELECT COUNT(*) FROM t"), [[Value::I64(4)]]);
}

#[test]
fn a_write_that_fails_leaves_no_record() {
    let (server, database) = shop();
    once(&database, PLAIN, &[text("a")], "k", 0).unwrap();
    for (statement, kind) in [
        (RETURNING, Constraint),
        (PLAIN, Constraint),
        ("INSERT INTO nowhere VALUES (?)", Syntax),
        ("BEGIN", Denied),
        ("SELECT ?; COMMIT", Syntax),
        ("CREATE TABLE u (v int)", Denied),
        ("TRUNCATE t", Denied),
    ] {
        let values = [text("a")];
        let values = if statement.contains('?') { &values[..] } else { &[] };
        let error = once(&database, statement, values, "l", 0).unwrap_err();
        assert_eq!(error.kind, kind, "{statement}: {error:?}");
    }
    once(&database, PLAIN, &[text("b")], "m", 0).unwrap();
    let write = |query: Query<'_>| database.write_once(&query, CallRecord { key: "n", now_s: 0, expires_s: 60 }).unwrap_err();
    // Too large: neither a change nor a word of one.
    let many = write(Query { max_rows: 1, ..query("INSERT INTO t (k) VALUES ('x'), ('y') RETURNING id") });
    assert_eq!((many.kind, many.message.as_str()), (TooLarge, "the result has more than `max_rows`, 1 rows"));
    let long = write(Query { max_bytes: 100, ..query("INSERT INTO t (k) VALUES ('x') RETURNING REPEAT('x', 5000000)") });
    assert_eq!((long.kind, long.message.as_str()), (TooLarge, "the result has more than 100 bytes"));
    assert_eq!(write(Query { deadline_ms: 2_000, ..query("UPDATE t SET k = CONCAT(k, SLEEP(600))") }).kind, TimedOut);
    assert_eq!(once(&database, PLAIN, &[text("c")], "l", 0), Ok(RecordedWrite::Made(affected(1))));
    assert_eq!(database.rows("SELECT GROUP_CONCAT(k ORDER BY k SEPARATOR ' ') FROM t"), [[text("a b c")]]);
    assert_eq!(database.rows("SELECT COUNT(*) FROM millrace_calls"), [[Value::I64(3)]]);
    let reader = Database::open(Connection { read_only: true, ..server.connection(&[]) });
    assert_eq!(once(&reader, PLAIN, &[text("d")], "o", 0).unwrap_err().kind, Denied);
}

#[test]
fn a_result_too_large_for_a_record_is_not_kept_and_the_change_is() {
    let (_server, database) = shop();
    let large = Query { max_bytes: 4 << 20, ..query("INSERT INTO t (k) VALUES ('a') RETURNING REPEAT('x', 2000000)") };
    let record = CallRecord { key: "k", now_s: 0, expires_s: 60 };
    assert!(matches!(database.write_once(&large, record), Ok(RecordedWrite::Made(_))));
    assert_eq!(database.write_once(&large, record), Ok(RecordedWrite::MadeBeforeUnknown));
    assert_eq!(database.rows("SELECT COUNT(*) FROM t"), [[Value::I64(1)]]);
}

#[test]
fn expired_records_are_removed_by_later_writes() {
    let (_server, database) = shop();
    for number in 0..120 {
        once(&database, PLAIN, &[text(&number.to_string())], &format!("k{number}"), 0).unwrap();
    }
    once(&database, PLAIN, &[text("a")], "a", 60).unwrap();
    assert_eq!(database.rows("SELECT COUNT(*) FROM millrace_calls"), [[Value::I64(21)]]);
}

#[test]
fn an_answer_does_not_wait_for_records_to_be_removed() {
    let (server, database) = shop();
    once(&database, PLAIN, &[text("a")], "old", 0).unwrap();
    let connection = server.connection(&[]);
    let holder =
        thread::spawn(move || Database::open(connection).error("UPDATE millrace_calls SET affected = SLEEP(600) WHERE expires_at < 99"));
    let running = "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Execute' AND INFO LIKE 'UPDATE%SLEEP(600)%'";
    while database.rows(running).is_empty() {
        thread::yield_now();
    }
    let began = Instant::now();
    assert_eq!(once(&database, PLAIN, &[text("b")], "new", 100), Ok(RecordedWrite::Made(affected(1))));
    // The deadline is a minute away.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let Value::I64(number) = database.rows(running)[0][0] else { panic!("no number") };
    server.run("shop", &format!("KILL {number}"));
    holder.join().unwrap();
    assert_eq!(once(&database, PLAIN, &[text("c")], "new", 100), Ok(RecordedWrite::MadeBefore(affected(1))));
}

#[test]
fn a_table_that_cannot_be_made_is_the_operators_affair() {
    let (server, database) = shop();
    server.run("shop", "CREATE USER clerk@'127.0.0.1' IDENTIFIED BY 'clerk'; GRANT INSERT, SELECT ON shop.t TO clerk@'127.0.0.1';");
    let address = format!("mysql://clerk:clerk@127.0.0.1:{}/shop", server.port);
    let clerk = || Database::open(connection("mysql", &address, &[]));
    for Error { kind, source, .. } in [once(&clerk(), PLAIN, &[text("a")], "k", 0).unwrap_err(), clerk().prepare_records().unwrap_err()] {
        assert_eq!(kind, Configuration);
        assert!(source.unwrap().contains("CREATE TABLE IF NOT EXISTS millrace_calls (`key` char(64)"));
    }
    assert_eq!((database.prepare_records(), database.prepare_records()), (Ok(()), Ok(())));
    let denied = once(&clerk(), PLAIN, &[text("a")], "k", 0).unwrap_err();
    assert_eq!((denied.kind, denied.message.contains("cannot be made or written")), (Configuration, true), "{denied:?}");
    server.run("shop", "GRANT INSERT, SELECT, UPDATE, DELETE ON shop.millrace_calls TO clerk@'127.0.0.1'");
    assert_eq!(once(&clerk(), PLAIN, &[text("a")], "k", 0), Ok(RecordedWrite::Made(affected(1))));
    // A table of somebody else's.
    database.run("DROP TABLE millrace_calls", &[]).unwrap();
    database.run("CREATE TABLE millrace_calls (a int)", &[]).unwrap();
    for error in [once(&database, PLAIN, &[text("b")], "k", 0).unwrap_err(), database.prepare_records().unwrap_err()] {
        assert_eq!(error.kind, Configuration, "{error:?}");
    }
    assert_eq!(database.rows("SELECT COUNT(*) FROM t"), [[Value::I64(1)]]);
}

#[test]
fn two_that_ask_at_once_write_once() {
    let (server, database) = shop();
    // The table is not there yet: they also make it at once.
    let both = Arc::new(Barrier::new(4));
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (both, address) = (Arc::clone(&both), server.url("shop"));
            thread::spawn(move || {
                let database = Database::open(connection("mysql", &address, &[]));
                (0..50)
                    .map(|number| {
                        both.wait();
                        match once(&database, RETURNING, &[text(&number.to_string())], &format!("k{number}"), 0) {
                            Ok(RecordedWrite::Made(rows)) => Ok((true, rows.rows)),
                            Ok(RecordedWrite::MadeBefore(rows)) => Ok((false, rows.rows)),
                            other => Err(format!("{other:?}")),
                        }
                    })
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    // A failure is looked at when nobody waits any longer.
    let answers: Vec<Vec<_>> = callers.into_iter().map(|caller| caller.join().unwrap().into_iter().map(Result::unwrap).collect()).collect();
    for number in 0..50 {
        assert_eq!(answers.iter().filter(|answers| answers[number].0).count(), 1, "{number}");
        assert!(answers.iter().all(|other| other[number].1 == answers[0][number].1), "{number}");
    }
    assert_eq!(database.rows("SELECT COUNT(*) FROM t"), [[Value::I64(50)]]);
}

#[test]
fn a_call_that_meets_one_that_does_not_end_is_a_conflict() {
    let (server, database) = shop();
    let address = server.url("shop");
    database.prepare_records().unwrap();
    let slow = thread::spawn(move || {
        let database = Database::open(connection("mysql", &address, &[]));
        let made = once(&database, "INSERT INTO t (k) SELECT CONCAT('slow', SLEEP(6))", &[], "k", 0);
        assert_eq!(made, Ok(RecordedWrite::Made(affected(1))));
    });
    while database.rows("SELECT 1 FROM information_schema.PROCESSLIST WHERE COMMAND = 'Execute' AND INFO LIKE '%SLEEP(6))'").is_empty() {
        thread::yield_now();
    }
    let impatient = Query { deadline_ms: 2_000, ..query("INSERT INTO t (k) VALUES ('fast')") };
    assert_eq!(database.write_once(&impatient, CallRecord { key: "k", now_s: 0, expires_s: 60 }), Ok(RecordedWrite::Running));
    // Who has the time waits for its answer.
    assert_eq!(once(&database, "INSERT INTO t (k) VALUES ('fast')", &[], "k", 0), Ok(RecordedWrite::MadeBefore(affected(1))));
    slow.join().unwrap();
    assert_eq!(database.rows("SELECT k FROM t"), [[text("slow0")]]);
}

const CALLERS: usize = 10;
const CALLS: usize = 100;

#[test]
fn a_thousand_connections_are_cut_after_the_commit_and_no_write_is_made_twice() {
    let (server, database) = shop();
    database.prepare_records().unwrap();
    let (port, address) = (server.port, server.url("shop"));
    let call = move |caller: usize, address: String| {
        let way = cutting(port, cutting::MYSQL);
        let database = Database::open(connection("mysql", &address.replace(&format!(":{port}/"), &format!(":{}/", way.port)), &[]));
        for number in 0..CALLS {
            let key = format!("{caller}-{number}");
            let statement = if number % 2 == 0 { RETURNING } else { PLAIN };
            way.cuts.store(1, SeqCst);
            // Sometimes the server cannot be asked at once what became of it, and the caller must send its call again.
            let for_good = number % 50 == 0;
            way.closes.store(for_good, SeqCst);
            let first = once(&database, statement, &[text(&key)], &key, 0);
            assert_eq!(way.cuts.load(SeqCst), 0, "{key} was not cut");
            way.closes.store(false, SeqCst);
            let second = once(&database, statement, &[text(&key)], &key, 0);
            match first {
                Err(error) => assert!(for_good && error.kind == Unavailable, "{error:?}"),
                first => assert_eq!((first, for_good), (second.clone(), false)),
            }
            match second {
                Ok(RecordedWrite::MadeBefore(rows)) if number % 2 == 0 => assert_eq!(rows.rows[0][1], text(&key)),
                second => assert_eq!(second, Ok(RecordedWrite::MadeBefore(affected(1)))),
            }
        }
    };
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let address = address.clone();
            thread::spawn(move || call(caller, address))
        })
        .collect();
    callers.into_iter().for_each(|caller| caller.join().unwrap());
    assert_eq!(database.rows("SELECT COUNT(*), COUNT(DISTINCT k) FROM t"), [[Value::I64(1000), Value::I64(1000)]]);
}

#[test]
fn a_server_that_is_killed_again_and_again_makes_no_write_twice() {
    let (mut server, database) = shop();
    database.prepare_records().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let (over, address) = (Arc::clone(&over), server.url("shop"));
            thread::spawn(move || {
                let database = Database::open(connection("mysql", &address, &[]));
                let mut made = 0;
                while !over.load(SeqCst) {
                    let key = format!("{caller}-{made}");
                    // As a client does: the same call until there is an answer.
                    loop {
                        match once(&database, PLAIN, &[text(&key)], &key, 0) {
                            Ok(RecordedWrite::Made(rows) | RecordedWrite::MadeBefore(rows)) => {
                                assert_eq!(rows, affected(1));
                                break;
                            }
                            Ok(other) => panic!("{other:?}"),
                            Err(error) => assert!(error.kind.is_retryable(), "{error:?}"),
                        }
                    }
                    made += 1;
                }
                made
            })
        })
        .collect();
    for round in 1..=5_i64 {
        let written = || matches!(server.open().rows("SELECT COUNT(*) FROM t")[0][0], Value::I64(count) if count >= 40 * round);
        while !written() {
            thread::yield_now();
        }
        server.kill();
        server.restart();
    }
    over.store(true, SeqCst);
    let made: i64 = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
    assert_eq!(server.open().rows("SELECT COUNT(*), COUNT(DISTINCT k) FROM t"), [[Value::I64(made), Value::I64(made)]]);
}
