//! Connections: used again, replaced, bounded; and what becomes of commands when they break.

use std::time::{Duration, Instant};

use millrace_core::{
    ErrorKind::{self, Busy, Protocol, TimedOut, Unavailable},
    app::Access,
    ports::{Command, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query, text},
    redis,
};

use super::support::{
    Answer::{self, AndEnd, AndSilence, Bytes},
    Scripted, arguments, json, open, run,
};

/// How many connections a server had.
fn connections(port: u16) -> u64 {
    let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{port}"), &[("allow", "INFO")]));
    let rows = run(&database, "INFO stats").unwrap().rows;
    let [Value::Text(stats)] = rows[0].as_slice() else { panic!("{rows:?}") };
    stats.lines().find_map(|line| line.strip_prefix("total_connections_received:")).unwrap().trim().parse().unwrap()
}

#[test]
fn a_connection_is_used_again_and_replaced_when_it_is_gone() {
    let mut server = redis::start(&[]);
    let database = open(server.port);
    run(&database, "SET k v").unwrap();
    let before = connections(server.port);
    for _ in 0..50 {
        assert_eq!(json(&database, "GET k"), r#"[{"value":"v"}]"#);
    }
    assert_eq!(connections(server.port), before + 1, "only that of the question");
    server.kill();
    server.restart();
    // Nobody has used it since: it is noticed, and a write goes through.
    run(&database, "SET l w").unwrap();
    assert_eq!(json(&database, "MGET k l"), r#"[{"value":"v"},{"value":"w"}]"#);
    server.kill();
    let brief = Query { deadline_ms: 2_000, ..query("GET k") };
    let error = database.run_with(&brief).unwrap_err();
    assert_eq!((error.kind, error.message.clone()), (Unavailable, "could not connect to the server".to_owned()));
    server.restart();
    assert_eq!(json(&database, "GET k"), r#"[{"value":"v"}]"#);
}

#[test]
fn there_are_no_more_connections_than_the_option_says() {
    let server = redis::start(&[]);
    let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", server.port), &[("max_connections", "2")]));
    let before = connections(server.port);
    let words = [text("SET"), text("k"), text("v")];
    let set = Query { command: Command::Arguments(&words), ..query("") };
    assert!(database.run_all(&vec![set; 40]).into_iter().all(|outcome| outcome.is_ok()));
    assert!(connections(server.port) <= before + 3);
}

#[test]
fn a_paused_server_ends_a_command_at_its_deadline() {
    let server = redis::start(&[]);
    let database = open(server.port);
    run(&database, "SET k 0").unwrap();
    server.signal("STOP");
    let started = Instant::now();
    let incr = [text("INCR"), text("k")];
    let late = |access| Query { command: Command::Arguments(&incr), access, deadline_ms: 500, ..query("") };
    let error = database.run_with(&late(Access::Write)).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TimedOut, "the statement ran past its deadline"));
    assert!(started.elapsed() < Duration::from_secs(20));
    server.signal("CONT");
    // The connection was closed with its call: no late reply is taken for another's.
    assert_eq!(json(&database, "ECHO mine"), r#"[{"value":"mine"}]"#);
    let found = run(&database, "GET k").unwrap().rows;
    assert!(found == [[text("0")]] || found == [[text("1")]], "at most once: {found:?}");
}

/// What becomes of `GET` and of `INCR` against these answers, and how often each was sent.
fn outcomes(answers: &[Answer]) -> [(Result<usize, ErrorKind>, usize); 2] {
    [(Access::Read, ["GET", "k"]), (Access::Write, ["INCR", "k"])].map(|(access, words)| {
        let server = Scripted::start(answers);
        let words = words.map(text);
        let query = Query { command: Command::Arguments(&words), access, deadline_ms: 1_500, ..query("") };
        let outcome = open(server.port).run_with(&query);
        (outcome.map(|rows| rows.rows.len()).map_err(|error| error.kind), server.received().len())
    })
}

#[test]
fn a_read_is_sent_once_more_and_a_write_never() {
    let one = Bytes(b":1\r\n");
    for (what, answers, read, written) in [
        ("a good reply", vec![one], (Ok(1), 1), (Ok(1), 1)),
        ("no reply", vec![AndEnd(b""), one], (Ok(1), 2), (Err(Protocol), 1)),
        ("half a reply", vec![AndEnd(b"$5\r\nhal"), one], (Ok(1), 2), (Err(Protocol), 1)),
        ("no reply, ever", vec![AndEnd(b"")], (Err(Unavailable), 2), (Err(Protocol), 1)),
        ("no protocol", vec![Bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n"), one], (Ok(1), 2), (Err(Protocol), 1)),
        ("types of RESP3", vec![Bytes(b"%1\r\n+a\r\n+b\r\n"), one], (Ok(1), 2), (Err(Protocol), 1)),
        ("two replies", vec![Bytes(b":1\r\n:2\r\n"), one], (Ok(1), 2), (Err(Protocol), 1)),
        ("silence", vec![AndSilence(b"")], (Err(TimedOut), 1), (Err(TimedOut), 1)),
        ("half a reply and silence", vec![AndSilence(b"*2\r\n$1\r\na")], (Err(TimedOut), 1), (Err(TimedOut), 1)),
        ("loading", vec![Bytes(b"-LOADING Redis is loading\r\n"), one], (Ok(1), 2), (Ok(1), 2)),
        ("loading for ever", vec![Bytes(b"-LOADING Redis is loading\r\n")], (Err(Busy), 4), (Err(Busy), 4)),
        ("an unknown error", vec![Bytes(b"-NONSENSE hunter2\r\n"), one], (Err(Protocol), 1), (Err(Protocol), 1)),
    ] {
        let [found_read, found_written] = outcomes(&answers);
        // How often something is tried before the deadline depends on chance.
        let same =
            |found: &(_, usize), expected: &(_, usize)| found.0 == expected.0 && (found.1 == expected.1 || (expected.1 > 2 && found.1 > 2));
        assert!(same(&found_read, &read) && same(&found_written, &written), "{what}: {found_read:?} {found_written:?}");
    }
    let server = Scripted::start(&[AndEnd(b"")]);
    let error = run(&open(server.port), "INCR k").unwrap_err();
    assert_eq!(error.message, "the Redis server closed the connection; it is not known whether the statement took effect");
}

#[test]
fn a_script_is_sent_once_whatever_its_error_says() {
    for reply in
        [&b"-BUSY I wrote before\r\n"[..], b"-TRYAGAIN x\r\n", b"-LOADING x\r\n", b"-WRONGTYPE x\r\n", b"*2\r\n+OK\r\n-LOADING x\r\n"]
    {
        let server = Scripted::start(&[Bytes(reply)]);
        let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", server.port), &[("allow", "EVAL,FT.ADD")]));
        for (place, command) in ["EVAL x 0", "FT.ADD x"].into_iter().enumerate() {
            let error = run(&database, command).unwrap_err();
            assert!(error.kind == Protocol && error.message.ends_with("it is not known whether the statement took effect"), "{error:?}");
            assert_eq!(server.received().len(), place + 1, "{command} {reply:?}");
        }
    }
}

#[test]
fn hostile_replies_are_bounded() {
    for (reply, kind) in [
        (&b"*1000000000\r\n"[..], ErrorKind::TooLarge),
        (b"$9999999999\r\n", ErrorKind::TooLarge),
        (b"$-7\r\n", Protocol),
        (b":99999999999999999999\r\n", Protocol),
    ] {
        let server = Scripted::start(&[Bytes(reply)]);
        assert_eq!(run(&open(server.port), "GETDEL k").unwrap_err().kind, kind, "{reply:?}");
    }
    let deep: &'static [u8] = Box::leak(b"*1\r\n".repeat(100_000).into_boxed_slice());
    let server = Scripted::start(&[Bytes(deep)]);
    assert_eq!(run(&open(server.port), "GETDEL k").unwrap_err().kind, Protocol);
}

#[test]
fn a_reply_that_nobody_asked_for_becomes_no_answer() {
    let server = Scripted::start(&[Bytes(b"$5\r\nfirst\r\n"), Bytes(b"$6\r\nsecond\r\n")]);
    let database = open(server.port);
    assert_eq!(json(&database, "GET a"), r#"[{"value":"first"}]"#);
    assert_eq!(json(&database, "GET b"), r#"[{"value":"second"}]"#);
    let stray = Scripted::start(&[Bytes(b"$5\r\nfirst\r\n$5\r\nstray\r\n"), Bytes(b"$6\r\nsecond\r\n")]);
    let database = open(stray.port);
    // The command reads, so it is sent once more, on another connection.
    let get = |key: &str| arguments(&database, &[text("GET"), text(key)], Access::Read).unwrap().rows;
    assert_eq!(get("a"), [[text("second")]]);
    assert_eq!(get("b"), [[text("second")]]);
}

#[test]
fn a_server_without_a_free_connection_is_tried_again() {
    let full = AndEnd(b"-ERR max number of clients reached\r\n");
    let server = Scripted::start(&[full, full, Bytes(b"+OK\r\n")]);
    run(&open(server.port), "SET k v").unwrap();
    assert_eq!(server.received().len(), 3);
}
