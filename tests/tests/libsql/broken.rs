//! A server that misbehaves.

use millrace_core::{
    app::Access,
    ports::{Command, Connection, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query},
    failures::{LIBSQL as GOOD, json},
    scripted::{Reply, Scripted},
};

fn settings(server: &Scripted) -> Connection {
    connection("libsql", &format!("http://{}", server.address), &[("auth_token", "t.o.k")])
}

fn open(server: &Scripted) -> Database {
    Database::open(settings(server))
}

#[test]
fn a_lost_answer_of_a_write_says_that_the_outcome_is_unknown() {
    let server = Scripted::with(vec![Reply::Broken(GOOD.to_owned(), 10)]);
    let message = open(&server).error("DELETE FROM t").into_parts().message;
    assert!(message.ends_with("; it is not known whether the statement took effect"), "{message}");
}

#[test]
fn an_older_server_is_asked_in_its_own_version_and_remembered() {
    let server = Scripted::start(|_, request| match request.line.as_str() {
        "POST /v2/pipeline HTTP/1.1" => json(200, GOOD),
        _ => json(404, ""),
    });
    let database = open(&server);
    for _ in 0..3 {
        assert_eq!(database.run("UPDATE t SET v = 1 RETURNING v", &[]).unwrap().rows, [[Value::I64(7)]]);
    }
    let paths: Vec<String> =
        server.received().into_iter().map(|request| request.line.replace("POST ", "").replace(" HTTP/1.1", "")).collect();
    assert_eq!(paths, ["/v3/pipeline", "/v2/pipeline", "/v2/pipeline", "/v2/pipeline"]);
}

#[test]
fn requests_carry_the_token_in_a_header_and_keep_nothing() {
    let server = Scripted::with(vec![json(200, GOOD)]);
    let database = Database::open(connection("libsql", &format!("http://{}/ns?authToken=t.o.k", server.address), &[]));
    for _ in 0..2 {
        database.run("SELECT ?1", &[Value::I64(1)]).unwrap();
    }
    let received = server.received();
    assert_eq!(received.len(), 2, "the address in an answer is left alone");
    for request in received {
        assert_eq!(request.line, "POST /ns/v3/pipeline HTTP/1.1");
        assert!(request.head.contains("authorization: Bearer t.o.k\r\n") && !request.line.contains("t.o.k"), "{request:?}");
        assert!(request.body.starts_with(r#"{"baton":null,"#) && request.body.ends_with(r#"{"type":"close"}]}"#), "{request:?}");
    }
}

#[test]
fn what_is_refused_is_not_sent() {
    let server = Scripted::with(vec![json(200, GOOD)]);
    let address = format!("http://{}", server.address);
    let database = Database::open(Connection { read_only: true, ..connection("libsql", &address, &[]) });
    let cases = [
        ("INSERT INTO t VALUES (1)", Access::Write),
        ("INSERT INTO t VALUES (1)", Access::Read),
        ("WITH a AS (SELECT 1) DELETE FROM t", Access::Read),
        ("VACUUM", Access::Read),
        ("SELECT 1; DROP TABLE t", Access::Read),
        ("PRAGMA user_version = 1", Access::Read),
    ];
    for (text, access) in cases {
        assert!(database.run_with(&Query { access, ..query(text) }).is_err(), "{text}");
    }
    assert!(
        database
            .run_with(&Query {
                command: Command::Statement { text: "SELECT ?1", values: &[Value::F64(f64::INFINITY)] },
                session: &[],
                access: Access::Read,
                ..query("")
            })
            .is_err()
    );
    assert!(server.received().is_empty());
}
