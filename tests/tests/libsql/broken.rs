//! A server that misbehaves.

use millrace_core::{
    ErrorKind::{self, Busy, Configuration, Constraint, Denied, Protocol, TimedOut, TooLarge, Unavailable},
    app::Access,
    ports::{Connection, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query},
    scripted::{Reply, Scripted},
};

const GOOD: &str = r#"{"baton":"never-kept","base_url":"http://elsewhere.example","results":[{"type":"ok","response":{"type":"execute","result":{"cols":[{"name":"v","decltype":null}],"rows":[[{"type":"integer","value":"7"}]],"affected_row_count":0,"last_insert_rowid":null}}},{"type":"ok","response":{"type":"close"}}]}"#;

fn json(status: u16, body: &str) -> Reply {
    Reply::Whole(status, "application/json", body.to_owned())
}

fn open(server: &Scripted) -> Database {
    Database::open(connection("libsql", &format!("http://{}", server.address), &[("auth_token", "t.o.k")]))
}

/// What became of a read and of a write against these answers: the kind of the error or the number of rows, and how many requests it took.
fn outcomes(replies: &[Reply]) -> [(Result<usize, ErrorKind>, usize); 2] {
    [(Access::Read, "SELECT v FROM t"), (Access::Write, "UPDATE t SET v = 1 RETURNING v")].map(|(access, text)| {
        let server = Scripted::with(replies.to_vec());
        let outcome = open(&server).run_with(&Query { access, ..query(text) });
        (outcome.map(|rows| rows.rows.len()).map_err(|error| error.kind), server.received().len())
    })
}

#[test]
fn broken_answers_are_asked_for_once_more_where_nothing_can_be_done_twice() {
    let html = Reply::Whole(500, "text/html", "<html><h1>Internal Server Error</h1></html>".to_owned());
    let half = Reply::Broken(GOOD.to_owned(), GOOD.len() / 2);
    let good = json(200, GOOD);
    let table = [
        ("a good answer", vec![good.clone()], (Ok(1), 1), (Ok(1), 1)),
        ("half a body", vec![half.clone()], (Err(Protocol), 2), (Err(Protocol), 1)),
        ("half a body, then a good one", vec![half, good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        ("half of the JSON", vec![json(200, &GOOD[..100]), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        ("no answer at all", vec![Reply::Raw(b""), good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        ("no HTTP", vec![Reply::Raw(b"220 mail.example.com ESMTP\r\n")], (Err(Protocol), 2), (Err(Protocol), 1)),
        ("plain text", vec![Reply::Whole(200, "text/plain", "hello".to_owned())], (Err(Protocol), 2), (Err(Protocol), 1)),
        ("a page", vec![html.clone()], (Err(Unavailable), 2), (Err(Protocol), 1)),
        ("a page, then a good one", vec![html, good.clone()], (Ok(1), 2), (Err(Protocol), 1)),
        ("not ready, then a good one", vec![json(503, ""), json(503, ""), good.clone()], (Ok(1), 3), (Ok(1), 3)),
        (
            "locked, then a good one",
            vec![
                json(200, r#"{"results":[{"type":"error","error":{"message":"SQLite error: database is locked","code":"SQLITE_BUSY"}}]}"#),
                good.clone(),
            ],
            (Ok(1), 2),
            (Ok(1), 2),
        ),
        ("never ready", vec![json(503, "")], (Err(Unavailable), 6), (Err(Unavailable), 6)),
        (
            "a constraint",
            vec![json(200, r#"{"results":[{"type":"error","error":{"message":"SQLite error: x","code":"SQLITE_CONSTRAINT"}}]}"#)],
            (Err(Constraint), 1),
            (Err(Constraint), 1),
        ),
        ("a wrong token", vec![json(401, r#"{"error":"no"}"#), good.clone()], (Err(Denied), 1), (Err(Denied), 1)),
        ("too much to do", vec![json(429, "")], (Err(Busy), 1), (Err(Busy), 1)),
        (
            "a redirect",
            vec![Reply::Raw(b"HTTP/1.1 307 Over there\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n")],
            (Err(Configuration), 1),
            (Err(Configuration), 1),
        ),
        ("no database", vec![json(404, "")], (Err(Configuration), 2), (Err(Configuration), 2)),
        (
            "a bad request",
            vec![Reply::Whole(400, "text/plain", "Received an invalid baton".to_owned())],
            (Err(Protocol), 1),
            (Err(Protocol), 1),
        ),
    ];
    for (what, replies, read, written) in table {
        assert_eq!(outcomes(&replies), [read, written], "{what}");
    }
}

#[test]
fn a_lost_answer_of_a_write_says_that_the_outcome_is_unknown() {
    let server = Scripted::with(vec![Reply::Broken(GOOD.to_owned(), 10)]);
    let message = open(&server).error("DELETE FROM t").message;
    assert!(message.ends_with("; whether the statement took effect is not known"), "{message}");
}

#[test]
fn silence_ends_at_the_deadline() {
    let server = Scripted::with(vec![Reply::Silence]);
    let error = open(&server).run_with(&Query { deadline_ms: 200, access: Access::Read, ..query("SELECT 1") }).unwrap_err();
    assert_eq!((error.kind, server.received().len()), (TimedOut, 1));
}

#[test]
fn a_body_over_the_limit_is_not_read() {
    let server = Scripted::with(vec![json(200, &format!("{GOOD}{}", " ".repeat(2 << 20)))]);
    let error = open(&server).run_with(&Query { max_bytes: 64, access: Access::Read, ..query("SELECT 1") }).unwrap_err();
    assert_eq!((error.kind, server.received().len()), (TooLarge, 1));
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
    assert!(database.run_with(&Query { params: &[Value::F64(f64::INFINITY)], access: Access::Read, ..query("SELECT ?1") }).is_err());
    assert!(server.received().is_empty());
}
