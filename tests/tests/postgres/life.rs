//! Connections that are kept, break, are too many, and come back.

use std::{sync::mpsc, thread};

use millrace_core::{
    ErrorKind::{Busy, Protocol, Unavailable},
    app::Access,
    ports::Query,
    value::Value,
};
use millrace_tests::{
    database::{Database, query},
    postgres::Postgres,
};

const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'";

fn backend(database: &Database) -> Value {
    database.rows("SELECT pg_backend_pid()").remove(0).remove(0)
}

#[test]
fn a_connection_is_used_again_and_replaced_when_it_broke() {
    let mut server = Postgres::start(&[]);
    let database = Database::open(server.connection(&[("application_name", "victim")]));
    let first = backend(&database);
    assert_eq!(backend(&database), first);
    // Ended by the administrator while it was idle: nobody notices but by another process's number, and a write loses nothing.
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let admin = server.open();
    assert_eq!(admin.rows(TERMINATE).len(), 1);
    // It is told to end, and has said its farewell when it is gone from the list.
    while !admin.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = 'victim'").is_empty() {
        thread::yield_now();
    }
    drop(admin);
    assert_eq!(database.run("INSERT INTO t VALUES (1)", &[]).unwrap().affected, 1);
    assert_ne!(backend(&database), first);

    server.kill();
    let gone = database.error("INSERT INTO t VALUES (2)");
    assert_eq!(gone.kind, Unavailable, "{gone:?}");
    assert!(gone.message == "could not connect to the server" && gone.source.as_ref().unwrap().starts_with("`127.0.0.1:"), "{gone:?}");
    assert_eq!(database.ping().unwrap_err().kind, Unavailable);
    server.restart();
    assert_eq!(database.run("INSERT INTO t VALUES (2)", &[]).unwrap().affected, 1);
    assert_eq!(database.rows("SELECT v FROM t ORDER BY v"), [[Value::I64(1)], [Value::I64(2)]]);
}

#[test]
fn a_server_that_comes_back_is_waited_for() {
    let mut server = Postgres::start(&[]);
    let database = server.open();
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    server.kill();
    let back = thread::spawn(move || {
        server.restart();
        server
    });
    // While it starts there is no connection: nothing was executed, so even a write is sent again.
    let written = loop {
        match database.run("INSERT INTO t VALUES (1)", &[]) {
            Err(error) if error.kind == Unavailable => continue,
            outcome => break outcome,
        }
    };
    assert_eq!(written.unwrap().affected, 1);
    let _server = back.join().unwrap();
    assert_eq!(database.rows("SELECT count(*) FROM t"), [[Value::I64(1)]]);
}

/// Runs an endless statement, and does something to the server once it runs.
fn interrupted(server: &Postgres, access: Access, statement: &str, interrupt: impl FnOnce(&Database)) -> millrace_core::Error {
    let connection = server.connection(&[("application_name", "victim")]);
    let (_, options) = (&connection.connection_string, &connection.options);
    assert!(!options.is_empty());
    let url = server.url("postgres");
    let statement = statement.to_owned();
    let asker = thread::spawn(move || {
        let connection = millrace_tests::database::connection("postgres", &url, &[("application_name", "victim")]);
        Database::open(connection).run_with(&Query { access, ..query(&statement) }).unwrap_err()
    });
    let admin = server.open();
    while admin
        .rows("SELECT 1 FROM pg_stat_activity WHERE application_name = 'victim' AND state = 'active' AND query LIKE '%RECURSIVE%'")
        .is_empty()
    {
        thread::yield_now();
    }
    interrupt(&admin);
    asker.join().unwrap()
}

#[test]
fn a_write_that_is_killed_is_of_unknown_outcome_and_not_repeated() {
    let server = Postgres::start(&[]);
    let error = interrupted(&server, Access::Write, &format!("CREATE TABLE u AS {ENDLESS}"), |admin| {
        assert_eq!(admin.rows(TERMINATE).len(), 1);
    });
    assert_eq!(error.kind, Protocol, "{error:?}");
    assert_eq!(error.message, "PostgreSQL ended the connection; it is not known whether the statement took effect");
    let admin = server.open();
    assert!(admin.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = 'victim' AND state = 'active'").is_empty());
}

#[test]
fn a_read_that_is_killed_is_asked_once_more() {
    let server = Postgres::start(&[]);
    let (again, was_again) = mpsc::channel();
    let error = interrupted(&server, Access::Read, ENDLESS, |admin| {
        let mut last = 0;
        for _ in 0..2 {
            // Another process than the last, and one that runs the statement: what is ended while it logs in has executed nothing, and is
            // replaced without being counted.
            let sql = format!(
                "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE application_name = 'victim' AND state = 'active' AND query LIKE '%RECURSIVE%' AND pid <> {last}"
            );
            last = loop {
                match admin.rows(&sql).first().map(Vec::as_slice) {
                    Some([Value::I64(pid), _]) => break *pid,
                    _ => thread::yield_now(),
                }
            };
            again.send(()).unwrap();
        }
    });
    assert_eq!(was_again.try_iter().count(), 2);
    assert_eq!((error.kind, error.message.as_str()), (Unavailable, "PostgreSQL ended the connection"));
}

#[test]
fn more_calls_than_connections_wait_for_their_turn() {
    let server = Postgres::start(&["max_connections = 8", "superuser_reserved_connections = 0"]);
    // All calls of one isolate, at once.
    let database = Database::open(server.connection(&[("max_connections", "2"), ("application_name", "victim")]));
    let queries: Vec<_> = (0..12).map(|_| query("SELECT pg_backend_pid(), pg_sleep(0.01)")).collect();
    let mut backends: Vec<Value> = database.run_all(&queries).into_iter().map(|rows| rows.unwrap().rows.remove(0).remove(0)).collect();
    backends.sort_by_key(|backend| format!("{backend:?}"));
    backends.dedup();
    assert_eq!(backends.len(), 2);
    let late = |deadline_ms| Query { deadline_ms, access: Access::Read, ..query(ENDLESS) };
    let waited = database.run_all(&[late(3_000), late(3_000), late(200)]).remove(2).unwrap_err();
    assert_eq!((waited.kind, waited.message.as_str()), (Busy, "all 2 connections to PostgreSQL were in use until the deadline"));
}

#[test]
fn a_server_without_a_free_connection_is_asked_again() {
    let server = Postgres::start(&["max_connections = 4", "superuser_reserved_connections = 0", "max_wal_senders = 0"]);
    let mut others: Vec<Database> = (0..4).map(|_| server.open()).collect();
    for other in &others {
        other.ping().unwrap();
    }
    let database = server.open();
    let full = database.error("SELECT 1");
    assert_eq!((full.kind, full.message), (Busy, "PostgreSQL has no connection left".to_owned()));
    others.pop();
    assert_eq!(database.rows("SELECT 1"), [[Value::I64(1)]]);
}

#[test]
fn what_a_statement_leaves_open_is_undone() {
    let server = Postgres::start(&[]);
    let database = server.open();
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    // What is refused by its first word may still be reached.
    let first = backend(&database);
    drop(database.run("DO $$ BEGIN COMMIT; END $$", &[]));
    assert!(database.error("SELECT 1/0").message.starts_with("PostgreSQL refused"));
    assert_eq!(backend(&database), first, "an error costs no connection");
    assert_eq!(database.rows("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"), [[Value::I64(0)]]);
}
