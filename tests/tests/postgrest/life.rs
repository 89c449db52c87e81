//! Servers that are killed, paused or slow, and answers that no good server gives.

use std::time::{Duration, Instant};

use millrace_core::{
    ErrorKind::{Protocol, TimedOut, TooLarge, Unavailable},
    app::Access,
    ports::Query,
};
use millrace_tests::{
    database::{Database, connection, query},
    failures,
    scripted::{Reply, Scripted},
};
use serde_json::json;

use super::support::{self, run, shop};

const SQL: &str = "\
CREATE TABLE counted (id int PRIMARY KEY, n int);
INSERT INTO counted VALUES (1, 0);
CREATE FUNCTION count_slowly(s float8) RETURNS int LANGUAGE plpgsql VOLATILE AS \
  'BEGIN PERFORM pg_sleep(s); UPDATE counted SET n = n + 1 WHERE id = 1; RETURN 1; END';
CREATE FUNCTION wait(s float8) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN PERFORM pg_sleep(s); RETURN 1; END';
";
pub(crate) const READ: &str = r#"{"from": "t", "select": "v"}"#;
pub(crate) const WRITE: &str = r#"{"update": "t", "set": {"v": 1}, "where": {"v": {"eq": 7}}, "returning": "v"}"#;

fn settings(server: &Scripted) -> millrace_core::ports::Connection {
    connection("postgrest", &format!("http://{}", server.address), &[("token", "hunter2")])
}

#[test]
fn servers_that_are_killed_and_paused_end_a_call() {
    let mut shop = shop(SQL, &[]);
    let database = shop.postgrest.open();
    let n = || support::json(&database, &json!({"from": "counted", "select": "n"}));
    // PostgREST goes on when nobody waits any more: the caller is told that nobody knows.
    let slow = json!({"rpc": "count_slowly", "arguments": {"s": 1}}).to_string();
    let started = Instant::now();
    let error = database.run_with(&Query { deadline_ms: 200, ..query(&slow) }).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TimedOut, "the statement ran past its deadline"));
    assert!(started.elapsed() < Duration::from_secs(20));
    while n() != r#"[{"n":1}]"# {
        assert!(started.elapsed() < Duration::from_secs(60), "{}", n());
    }
    // A paused server.
    shop.postgrest.process.signal("STOP");
    let error = database.run_with(&Query { deadline_ms: 300, access: Access::Read, ..query(r#"{"count": "counted"}"#) }).unwrap_err();
    assert_eq!(error.kind, TimedOut);
    shop.postgrest.process.signal("CONT");
    assert_eq!(n(), r#"[{"n":1}]"#);
    // A killed database: PostgREST says that it has no connection, or PostgreSQL that it ended one.
    shop.postgres.kill();
    let error =
        database.run_with(&Query { deadline_ms: 1_000, ..query(r#"{"update": "counted", "set": {"n": 9}, "where": {"id": {"eq": 1}}}"#) });
    let error = error.unwrap_err();
    assert!([Unavailable, Protocol, TimedOut].contains(&error.kind), "{error:?}");
    shop.postgres.restart();
    while database.ping().is_err() {
        assert!(started.elapsed() < Duration::from_secs(120));
    }
    assert!([r#"[{"n":1}]"#, r#"[{"n":9}]"#].contains(&n().as_str()));
    // A killed server: what nobody took is sent again until the deadline.
    shop.postgrest.process.kill();
    let error = database.run_with(&Query { deadline_ms: 2_000, ..query(r#"{"count": "counted"}"#) }).unwrap_err();
    assert_eq!(error.kind, Unavailable, "{error:?}");
    assert_eq!(database.ping().unwrap_err().kind, Unavailable);
    shop.postgrest.restart();
    run(&database, &json!({"update": "counted", "set": {"n": 5}, "where": {"id": {"eq": 1}}})).unwrap();
    assert_eq!(n(), r#"[{"n":5}]"#);
}

#[test]
fn a_call_ends_at_its_deadline_wherever_it_waits() {
    let body = failures::POSTGREST.to_owned();
    for reply in [Reply::Silence, Reply::Stalled(body.clone(), 0), Reply::Stalled(body, 20)] {
        for (access, request) in [(Access::Read, READ), (Access::Write, WRITE)] {
            let server = Scripted::with(vec![reply.clone()]);
            let database = Database::open(settings(&server));
            let started = Instant::now();
            let error = database.run_with(&Query { access, deadline_ms: 1_000, ..query(request) }).unwrap_err();
            assert_eq!(error.kind, TimedOut, "{reply:?}: {error:?}");
            assert!(started.elapsed() < Duration::from_secs(20) && server.received().len() == 1);
        }
    }
}

#[test]
fn a_hostile_server_costs_a_call_and_no_more() {
    let json = |body: String| Reply::Whole(200, "application/json", body);
    let row = |count: usize| format!("[{}1]", "1,".repeat(count));
    for (what, reply, kind) in [
        ("too many bytes", json(format!("[{{\"v\":\"{}\"}}]", "x".repeat(8 << 20))), TooLarge),
        ("more bytes than a result may have", json(format!("[{{\"v\":\"{}\"}}]", "x".repeat(2 << 20))), TooLarge),
        ("too many rows", json(row(100_000)), TooLarge),
        ("too deep", json(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), Protocol),
        ("too deep an object", json(format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000))), Protocol),
        (
            "too many different fields",
            json(format!("[{}{{}}]", (0..2_000).map(|number| format!("{{\"f{number}\":1}},")).collect::<String>())),
            TooLarge,
        ),
        ("a text that does not end", json("[\"\\".to_owned()), Protocol),
        ("a number that does not end", json(format!("[{}", "9".repeat(1 << 20))), Protocol),
        ("another encoding", Reply::Whole(200, "application/json", "\u{feff}[]".to_owned()), Protocol),
    ] {
        let server = Scripted::with(vec![reply]);
        let database = Database::open(settings(&server));
        let started = Instant::now();
        let error = database.run_with(&Query { access: Access::Read, ..query(READ) }).unwrap_err();
        assert_eq!(error.kind, kind, "{what}: {error:?}");
        assert!(!error.message.contains("hunter2") && started.elapsed() < Duration::from_secs(20), "{what}");
    }
    // What is no error of PostgREST's is none of a caller's.
    let said = r#"{"code":["hunter2"],"message":{"a":"hunter2"}}"#;
    let server = Scripted::with(vec![Reply::Whole(400, "application/json", said.to_owned())]);
    let error = Database::open(settings(&server)).run_with(&query(WRITE)).unwrap_err();
    assert!(error.kind == Protocol && !error.message.contains("hunter2"), "{error:?}");
}

#[test]
fn no_request_shows_a_token_to_anybody_else() {
    let other = Scripted::with(vec![Reply::Whole(200, "application/json", "[]".to_owned())]);
    let redirect = format!("HTTP/1.1 307 Over there\r\nlocation: http://{}/t\r\ncontent-length: 0\r\n\r\n", other.address);
    let server = Scripted::with(vec![Reply::Raw(Box::leak(redirect.into_boxed_str()).as_bytes())]);
    let error = Database::open(settings(&server)).run_with(&query(READ)).unwrap_err();
    assert_eq!(error.message, "the address of the connection string redirects elsewhere");
    assert_eq!((server.received().len(), other.received().len()), (1, 0));
    let head = server.received().remove(0).head.to_ascii_lowercase();
    assert!(head.contains("authorization: bearer hunter2"), "{head}");
    assert!(!server.received().remove(0).line.contains("hunter2"));
}
