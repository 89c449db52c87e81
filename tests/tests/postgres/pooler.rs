//! Behind pgbouncer in transaction mode: a connection to the server belongs to nobody.

use std::thread;

use millrace_core::{
    ErrorKind::{Constraint, Denied, TimedOut},
    app::Access,
    ports::{Connection, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, query, text},
    postgres::{Pgbouncer, Postgres},
};

#[test]
fn two_connections_serve_many() {
    let server = Postgres::start(&[]);
    let pooler = Pgbouncer::start(&server, 2);
    server.open().run("CREATE TABLE t (id int PRIMARY KEY, v text)", &[]).unwrap();
    let connection = pooler.connection();
    let address = connection.connection_string.expose().clone();
    let isolates: Vec<_> = (0..4)
        .map(|isolate| {
            let address = address.clone();
            thread::spawn(move || {
                let database = Database::open(millrace_tests::database::connection("postgres", &address, &[]));
                for turn in 0..25 {
                    let id = isolate * 100 + turn;
                    let value = text(&format!("o'neil {id}"));
                    assert_eq!(database.run("INSERT INTO t VALUES ($1, $2)", &[Value::I64(id), value.clone()]).unwrap().affected, 1);
                    assert_eq!(database.run("SELECT v FROM t WHERE id = $1", &[Value::I64(id)]).unwrap().rows, [[value]]);
                    let twice = database.run("INSERT INTO t VALUES ($1, 'x')", &[Value::I64(id)]).unwrap_err();
                    assert_eq!(twice.kind, Constraint);
                }
            })
        })
        .collect();
    for isolate in isolates {
        isolate.join().unwrap();
    }
    assert_eq!(server.open().rows("SELECT count(*) FROM t"), [[Value::I64(100)]]);
}

#[test]
fn nothing_of_a_call_is_left_for_the_next() {
    let server = Postgres::start(&[]);
    let pooler = Pgbouncer::start(&server, 1);
    let reader = Database::open(Connection { read_only: true, ..pooler.connection() });
    let writer = Database::open(pooler.connection());
    writer.run("CREATE TABLE t (v int)", &[]).unwrap();
    assert_eq!(reader.error("INSERT INTO t VALUES (1)").kind, Denied);
    assert_eq!(writer.run("INSERT INTO t VALUES (1)", &[]).unwrap().affected, 1, "the connection of the reader may write again");
    let late = Query { access: Access::Read, deadline_ms: 2_000, ..query("SELECT pg_sleep(600)") };
    assert_eq!(writer.run_with(&late).unwrap_err().kind, TimedOut);
    assert_eq!(writer.rows("SELECT current_setting('statement_timeout')").len(), 1);
    assert_eq!(writer.run("SELECT pg_sleep(2.2)", &[]).unwrap().rows.len(), 1, "the deadline of the other is gone");
}
