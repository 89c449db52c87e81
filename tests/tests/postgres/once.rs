//! Writes that happen once for a key: also where connections are cut after the commit, the server is killed, and two ask at once.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
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
    postgres::{Pgbouncer, Postgres},
};

use super::Way;

for_each_way! {
    a_call_that_meets_one_that_does_not_end_is_a_conflict
    a_record_may_be_larger_than_what_a_call_reads
    a_result_too_large_for_a_record_is_not_kept_and_the_change_is
    a_table_that_cannot_be_made_is_the_operators_affair
    a_write_happens_once_for_a_key
    a_write_that_fails_leaves_no_record
    expired_records_are_removed_by_later_writes
    two_that_ask_at_once_write_once
}

const RETURNING: &str = "INSERT INTO t (k) VALUES ($1) RETURNING id, k";
const PLAIN: &str = "INSERT INTO t (k) VALUES ($1)";

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

fn shop(way: Way) -> (Postgres, Database) {
    let server = Postgres::start(&[]);
    let database = way.open(&server);
    database.run("CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, k text UNIQUE)", &[]).unwrap();
    (server, database)
}

fn a_write_happens_once_for_a_key(way: Way) {
    let (_server, database) = shop(way);
    assert_eq!(once(&database, RETURNING, &[text("a")], "k", 0), Ok(RecordedWrite::Made(row(1, "a"))));
    assert_eq!(once(&database, RETURNING, &[text("b")], "k", 59), Ok(RecordedWrite::MadeBefore(row(1, "a"))));
    assert_eq!(once(&database, PLAIN, &[text("b")], "l", 0), Ok(RecordedWrite::Made(affected(1))));
    assert_eq!(once(&database, PLAIN, &[text("b")], "l", 0), Ok(RecordedWrite::MadeBefore(affected(1))));
    // A record that is over.
    assert_eq!(once(&database, PLAIN, &[text("c")], "l", 60), Ok(RecordedWrite::Made(affected(1))));
    // Values of types that JSON does not have come back as they were.
    let typed = "INSERT INTO t (k) VALUES ($1) RETURNING 1.50::numeric, '\\xdead'::bytea, ARRAY[1, NULL], now()::date, '{\"a\": 1}'::jsonb";
    let Ok(RecordedWrite::Made(made)) = once(&database, typed, &[text("d")], "m", 0) else { panic!("not made") };
    assert_eq!(once(&database, typed, &[text("d")], "m", 0), Ok(RecordedWrite::MadeBefore(made)));
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(4)]]);
    // Nothing of it is left on the connection.
    let left = "SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')";
    assert_eq!(database.rows(left)[0][1], text("0"));
}

fn a_write_that_fails_leaves_no_record(way: Way) {
    let (server, database) = shop(way);
    once(&database, PLAIN, &[text("a")], "k", 0).unwrap();
    for (statement, kind) in [
        (RETURNING, Constraint),
        (PLAIN, Constraint),
        ("INSERT INTO nowhere VALUES ($1)", Syntax),
        ("BEGIN", Denied),
        ("SELECT $1::text; COMMIT", Syntax),
        ("VACUUM t", Denied),
    ] {
        let values = [text("a")];
        let values = if statement.contains("$1") { &values[..] } else { &[] };
        let error = once(&database, statement, values, "l", 0).unwrap_err();
        assert_eq!(error.kind, kind, "{statement}: {error:?}");
    }
    once(&database, PLAIN, &[text("b")], "m", 0).unwrap();
    let write = |query: Query<'_>| database.write_once(&query, CallRecord { key: "n", now_s: 0, expires_s: 60 }).unwrap_err();
    if way == Way::Postgres {
        // Too large: neither a change nor a word of one.
        let many = write(Query { max_rows: 1, ..query("UPDATE t SET k = k || '!' RETURNING id") });
        assert_eq!((many.kind, many.message.as_str()), (TooLarge, "the result has more than `max_rows`, 1 rows"));
        let long = write(Query { max_bytes: 100, ..query("UPDATE t SET k = k || '!' RETURNING repeat('x', 5000000)") });
        assert_eq!((long.kind, long.message.as_str()), (TooLarge, "the result has more than 100 bytes"));
    }
    assert_eq!(write(Query { deadline_ms: 2_000, ..query("UPDATE t SET k = k || pg_sleep(600)::text") }).kind, TimedOut);
    // A constraint that is looked at by the commit.
    database.run("CREATE TABLE d (v int UNIQUE DEFERRABLE INITIALLY DEFERRED)", &[]).unwrap();
    let deferred = once(&database, "INSERT INTO d VALUES (1), (1)", &[], "l", 0).unwrap_err();
    assert_eq!((deferred.kind, deferred.message.as_str()), (Constraint, "a UNIQUE constraint refused the change: `d_v_key`"));
    assert_eq!(once(&database, PLAIN, &[text("c")], "l", 0), Ok(RecordedWrite::Made(affected(1))));
    assert_eq!(database.rows("SELECT string_agg(k, ' ' ORDER BY k) FROM t"), [[text("a b c")]]);
    assert_eq!(database.rows("SELECT count(*) FROM millrace_calls"), [[Value::I64(3)]]);
    let reader = Database::open(Connection { read_only: true, ..way.settings(&server, &[]) });
    assert_eq!(once(&reader, PLAIN, &[text("d")], "o", 0).unwrap_err().kind, Denied);
}

fn a_result_too_large_for_a_record_is_not_kept_and_the_change_is(way: Way) {
    let (_server, database) = shop(way);
    let large = Query { max_bytes: 4 << 20, ..query("INSERT INTO t (k) VALUES ('a') RETURNING repeat('x', 2000000)") };
    let record = CallRecord { key: "k", now_s: 0, expires_s: 60 };
    // The API sends 1 MB.
    let large = if way == Way::RdsData { query("INSERT INTO t (k) VALUES ('a') RETURNING repeat('x', 800000)") } else { large };
    assert!(matches!(database.write_once(&large, record), Ok(RecordedWrite::Made(_))));
    assert_eq!(database.write_once(&large, record), Ok(RecordedWrite::MadeBeforeUnknown));
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
}

fn a_record_may_be_larger_than_what_a_call_reads(way: Way) {
    let (_server, database) = shop(way);
    // The RDS Data API sends 1 MB, as base64.
    let length = if way == Way::RdsData { 600_000 } else { 900_000 };
    let text = format!("INSERT INTO t (k) VALUES ('a') RETURNING repeat('x', {length})");
    let large = query(&text);
    let record = CallRecord { key: "k", now_s: 0, expires_s: 60 };
    let made = database.write_once(&large, record);
    let Ok(RecordedWrite::Made(made)) = made else { panic!("not made") };
    // With two digits for a byte, it is longer than the result may be.
    assert!(database.write_once(&large, record) == Ok(RecordedWrite::MadeBefore(made)), "another answer");
}

fn expired_records_are_removed_by_later_writes(way: Way) {
    let (_server, database) = shop(way);
    for number in 0..120 {
        once(&database, PLAIN, &[text(&number.to_string())], &format!("k{number}"), 0).unwrap();
    }
    once(&database, PLAIN, &[text("a")], "a", 60).unwrap();
    assert_eq!(database.rows("SELECT count(*) FROM millrace_calls"), [[Value::I64(21)]]);
}

fn a_table_that_cannot_be_made_is_the_operators_affair(way: Way) {
    let (server, database) = shop(way);
    for statement in [
        "CREATE ROLE clerk LOGIN PASSWORD 'clerk' CONNECTION LIMIT 10",
        "GRANT INSERT, SELECT ON t TO clerk",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    ] {
        database.run(statement, &[]).unwrap();
    }
    let clerk = format!("postgres://clerk:clerk@127.0.0.1:{}/postgres", server.port);
    let clerk = Database::open(way.settings_of(&server, &clerk, &[]));
    for Error { kind, source, .. } in [once(&clerk, PLAIN, &[text("a")], "k", 0).unwrap_err(), clerk.prepare_records().unwrap_err()] {
        assert_eq!(kind, Configuration);
        assert!(source.unwrap().contains("CREATE TABLE IF NOT EXISTS millrace_calls (key text PRIMARY KEY"));
    }
    assert_eq!((database.prepare_records(), database.prepare_records()), (Ok(()), Ok(())));
    let denied = once(&clerk, PLAIN, &[text("a")], "k", 0).unwrap_err();
    assert_eq!((denied.kind, denied.message.contains("cannot be made or written")), (Configuration, true), "{denied:?}");
    database.run("GRANT INSERT, SELECT, UPDATE, DELETE ON millrace_calls TO clerk", &[]).unwrap();
    assert_eq!(once(&clerk, PLAIN, &[text("a")], "k", 0), Ok(RecordedWrite::Made(affected(1))));
    // A table of somebody else's.
    database.run("DROP TABLE millrace_calls", &[]).unwrap();
    database.run("CREATE TABLE millrace_calls (a int)", &[]).unwrap();
    for error in [once(&database, PLAIN, &[text("b")], "k", 0).unwrap_err(), database.prepare_records().unwrap_err()] {
        assert_eq!(error.kind, Configuration, "{error:?}");
    }
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
}

fn two_that_ask_at_once_write_once(way: Way) {
    let (server, database) = shop(way);
    // The table is not there yet: they also make it at once.
    let both = Arc::new(Barrier::new(4));
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (both, settings) = (Arc::clone(&both), way.settings(&server, &[]));
            thread::spawn(move || {
                let database = Database::open(settings);
                (0..50)
                    .map(|number| {
                        both.wait();
                        match once(&database, RETURNING, &[text(&number.to_string())], &format!("k{number}"), 0) {
                            Ok(RecordedWrite::Made(rows)) => Ok((true, Some(rows.rows))),
                            Ok(RecordedWrite::MadeBefore(rows)) => Ok((false, Some(rows.rows))),
                            // Asked between the change and what is stored of it.
                            Ok(RecordedWrite::MadeBeforeUnknown) if way == Way::Neon => Ok((false, None)),
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
        let known: Vec<_> = answers.iter().filter_map(|answers| answers[number].1.as_ref()).collect();
        assert!(known.iter().all(|rows| *rows == known[0]), "{number}");
    }
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(50)]]);
}

fn a_call_that_meets_one_that_does_not_end_is_a_conflict(way: Way) {
    let (server, database) = shop(way);
    let settings = way.settings(&server, &[]);
    database.prepare_records().unwrap();
    let slow = thread::spawn(move || {
        let database = Database::open(settings);
        let made = once(&database, "INSERT INTO t (k) SELECT 'slow' FROM pg_sleep(6)", &[], "k", 0);
        assert_eq!(made, Ok(RecordedWrite::Made(affected(1))));
    });
    while database
        .rows("SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(6)%' AND pid <> pg_backend_pid()")
        .is_empty()
    {
        thread::yield_now();
    }
    let impatient = Query { deadline_ms: 2_000, ..query("INSERT INTO t (k) VALUES ('fast')") };
    assert_eq!(database.write_once(&impatient, CallRecord { key: "k", now_s: 0, expires_s: 60 }), Ok(RecordedWrite::Running));
    // Who has the time waits for its answer.
    assert_eq!(once(&database, "INSERT INTO t (k) VALUES ('fast')", &[], "k", 0), Ok(RecordedWrite::MadeBefore(affected(1))));
    slow.join().unwrap();
    assert_eq!(database.rows("SELECT k FROM t"), [[text("slow")]]);
}

#[test]
fn a_pooler_in_transaction_mode_is_in_nobodys_way() {
    let (server, database) = shop(Way::Postgres);
    let pooler = Pgbouncer::start(&server, 2);
    let address = pooler.connection().connection_string.expose().clone();
    let isolates: Vec<_> = (0..4)
        .map(|isolate| {
            let address = address.clone();
            thread::spawn(move || {
                let database = Database::open(connection("postgres", &address, &[]));
                for turn in 0..25 {
                    // Each key is asked for by two isolates.
                    let key = format!("{}-{turn}", isolate / 2);
                    once(&database, RETURNING, &[text(&key)], &key, 0).unwrap();
                }
            })
        })
        .collect();
    isolates.into_iter().for_each(|isolate| isolate.join().unwrap());
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(50)]]);
}

const CALLERS: usize = 10;
const CALLS: usize = 100;

#[test]
fn a_thousand_connections_are_cut_after_the_commit_and_no_write_is_made_twice() {
    let (server, database) = shop(Way::Postgres);
    database.prepare_records().unwrap();
    let (port, address) = (server.port, server.url("postgres"));
    let call = move |caller: usize, address: String| {
        let way = cutting(port, cutting::POSTGRES);
        let database = Database::open(connection("postgres", &address.replace(&format!(":{port}/"), &format!(":{}/", way.port)), &[]));
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
    assert_eq!(database.rows("SELECT count(*), count(DISTINCT k) FROM t"), [[Value::I64(1000), Value::I64(1000)]]);
}

#[test]
fn a_server_that_is_killed_again_and_again_makes_no_write_twice() {
    let (mut server, database) = shop(Way::Postgres);
    database.prepare_records().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..4)
        .map(|caller| {
            let (over, address) = (Arc::clone(&over), server.url("postgres"));
            thread::spawn(move || {
                let database = Database::open(connection("postgres", &address, &[]));
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
        let written = || matches!(server.open().rows("SELECT count(*) FROM t")[0][0], Value::I64(count) if count >= 40 * round);
        while !written() {
            thread::yield_now();
        }
        server.kill();
        server.restart();
    }
    over.store(true, SeqCst);
    let made: i64 = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
    assert_eq!(server.open().rows("SELECT count(*), count(DISTINCT k) FROM t"), [[Value::I64(made), Value::I64(made)]]);
}
