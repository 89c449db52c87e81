//! Connections that are kept, break, are too many, and come back.

use std::thread;

use millrace_core::{ErrorKind::Busy, value::Value};
use millrace_tests::{database::Database, postgres::Postgres};

fn backend(database: &Database) -> Value {
    database.rows("SELECT pg_backend_pid()").remove(0).remove(0)
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
    assert_eq!((full.kind, full.message.clone()), (Busy, "PostgreSQL has no connection left".to_owned()));
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

#[test]
fn a_lock_is_waited_for() {
    let server = Postgres::start(&[]);
    let database = server.open();
    database.run("CREATE TABLE t (v int)", &[]).unwrap();
    let impatient = Database::open(server.connection(&[("options", "-c lock_timeout=50ms")]));
    let url = server.url("postgres");
    let held = "\\set ON_ERROR_STOP 0\nBEGIN; LOCK TABLE t; SELECT pg_sleep(600);\nCOMMIT;";
    let holder = thread::spawn(move || millrace_tests::postgres::psql(&url, held));
    let asleep = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    while database.rows(asleep).is_empty() {
        thread::yield_now();
    }
    let locked = impatient.error("INSERT INTO t VALUES (1)");
    assert_eq!((locked.kind, locked.message.as_str()), (Busy, "what the statement needs is locked by another connection"));
    let connection = server.connection(&[]);
    // Gives the lock back once the next statement waits for it.
    let releaser = thread::spawn(move || {
        let database = Database::open(connection);
        while database.rows("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT%'").is_empty() {
            thread::yield_now();
        }
        drop(database.rows(&format!("SELECT pg_cancel_backend(pid) FROM ({asleep}) AS sleeper")));
    });
    assert_eq!(database.run("INSERT INTO t VALUES (2)", &[]).unwrap().affected, 1, "the lock is given back in time");
    releaser.join().unwrap();
    holder.join().unwrap();
    assert_eq!(database.rows("SELECT v FROM t"), [[Value::I64(2)]]);
}
