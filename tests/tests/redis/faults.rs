//! Faults of a real server: every call is answered in time, no write is made twice, and what was
//! answered is there.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use millrace_core::{
    Error,
    ErrorKind::{Busy, Denied, Protocol, TimedOut, Unavailable},
    Result,
    app::Access,
    ports::{Command, Query},
    value::{Rows, Value},
};
use millrace_tests::{
    database::{Database, connection, query, text},
    process::Process,
    redis,
};

use super::support::{
    Answer::{AndEnd, AndSilence, Bytes},
    Hello, Scripted, json, open, run,
};
use crate::certificates::certified;

/// When a call has to be answered, in milliseconds.
const DEADLINE_MS: u64 = 900;
/// What a busy machine may do late.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a command with that deadline, and makes sure that it was answered by then.
fn timed(database: &Database, access: Access, words: &[&str]) -> Result<Rows> {
    let words: Vec<Value> = words.iter().map(|word| text(word)).collect();
    let started = Instant::now();
    let outcome = database.run_with(&Query { command: Command::Arguments(&words), access, deadline_ms: DEADLINE_MS, ..query("") });
    assert!(started.elapsed() < Duration::from_millis(DEADLINE_MS) + PATIENCE, "{words:?}: {outcome:?}");
    outcome
}

fn is_unknown(error: &Error) -> bool {
    error.kind == TimedOut || error.message.ends_with("; it is not known whether the statement took effect")
}

/// How often something was counted.
fn counted(port: u16) -> i64 {
    let found = run(&open(port), "GET counted").unwrap().rows;
    let [Value::Text(digits)] = found[0].as_slice() else { panic!("{found:?}") };
    digits.parse().unwrap()
}

#[test]
fn a_server_that_is_killed_counts_every_answer_once() {
    let server = Mutex::new(redis::start(&[]));
    let port = server.lock().unwrap().port;
    run(&open(port), "SET counted 0").unwrap();
    let is_over = AtomicBool::new(false);
    let (mut good, mut unknown, mut failed) = (0, 0, 0);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..3)
            .map(|number| {
                let is_over = &is_over;
                scope.spawn(move || {
                    let version = ["2", "3"][number % 2];
                    let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{port}"), &[("protocol", version)]));
                    let (mut good, mut unknown, mut failed) = (0, 0, 0);
                    while !is_over.load(Relaxed) {
                        match timed(&database, Access::Write, &["INCR", "counted"]) {
                            Ok(_) => good += 1,
                            Err(error) if is_unknown(&error) => unknown += 1,
                            Err(error) => {
                                assert!(matches!(error.kind, Unavailable | Busy), "{error:?}");
                                failed += 1;
                            }
                        }
                    }
                    (good, unknown, failed)
                })
            })
            .collect();
        for _ in 0..4 {
            let before = counted(port);
            let started = Instant::now();
            while counted(port) < before + 20 {
                assert!(started.elapsed() < PATIENCE, "nobody counts");
            }
            let mut server = server.lock().unwrap();
            server.kill();
            server.restart();
        }
        is_over.store(true, Relaxed);
        for client in clients {
            let found = client.join().unwrap();
            (good, unknown, failed) = (good + found.0, unknown + found.1, failed + found.2);
        }
    });
    let counted = counted(port);
    println!("{good} were answered, {unknown} have an unknown outcome, {failed} were not executed: the server counted {counted}");
    assert!((good..=good + unknown).contains(&counted), "{good} {unknown} {failed}: {counted}");
}

#[test]
fn a_paused_server_gets_no_write_twice() {
    let server = redis::start(&[]);
    for version in ["2", "3"] {
        let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", server.port), &[("protocol", version)]));
        run(&database, "SET counted 0").unwrap();
        server.signal("STOP");
        let outcomes = [Access::Write, Access::Write].map(|access| timed(&database, access, &["INCR", "counted"]).unwrap_err());
        let read = timed(&database, Access::Read, &["GET", "counted"]).unwrap_err();
        server.signal("CONT");
        // The first was sent on the connection that there was; the others found none.
        assert_eq!(outcomes[0].kind, TimedOut);
        assert!(matches!(outcomes[1].kind, TimedOut | Unavailable) && matches!(read.kind, TimedOut | Unavailable), "{outcomes:?} {read:?}");
        assert_eq!(json(&database, "ECHO mine"), r#"[{"value":"mine"}]"#);
        assert!((0..=2).contains(&counted(server.port)));
    }
}

#[test]
fn a_server_with_no_connection_left_executes_nothing() {
    const MOST: usize = 3;
    let server = redis::start(&["--maxclients", &MOST.to_string()]);
    run(&open(server.port), "SET counted 0").unwrap();
    let fill = |server: &Process| -> Vec<TcpStream> {
        let mut held: Vec<TcpStream> = Vec::new();
        let started = Instant::now();
        // Those that were closed are given back late, and until then others are refused.
        while held.len() < MOST {
            assert!(started.elapsed() < PATIENCE, "the server is never full");
            let mut socket = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
            let mut said = [0; 7];
            if socket.write_all(b"PING\r\n").and_then(|()| socket.read_exact(&mut said)).is_ok() && &said == b"+PONG\r\n" {
                held.push(socket);
            }
        }
        held
    };
    for options in [&[][..], &[("protocol", "2")], &[("protocol", "3")]] {
        let held = fill(&server);
        let database = Database::open(connection("redis", &format!("redis://127.0.0.1:{}", server.port), options));
        for access in [Access::Write, Access::Read] {
            let error = timed(&database, access, &["INCR", "counted"]).unwrap_err();
            assert!(matches!(error.kind, Busy | Unavailable) && !is_unknown(&error), "{options:?}: {error:?}");
        }
        drop(held);
        let started = Instant::now();
        while timed(&database, Access::Write, &["INCR", "counted"]).is_err() {
            assert!(started.elapsed() < PATIENCE, "connections are free again");
        }
    }
    let started = Instant::now();
    while counted(server.port) != 3 {
        assert!(started.elapsed() < PATIENCE, "one for each of the three: {}", counted(server.port));
    }
}

#[test]
fn tls_that_is_wrong_ends_a_call_before_anything_is_sent() {
    let [certificate, key, authority] = certified("localhost");
    let [_, _, other] = certified("localhost");
    let secure = redis::start_tls(move |folder| {
        fs::write(folder.join("cert.pem"), &certificate).unwrap();
        fs::write(folder.join("key.pem"), &key).unwrap();
    });
    let plain = redis::start(&[]);
    let at = |scheme: &str, host: &str, port: u16, pem: Option<&str>| {
        let options: Vec<(&str, &str)> = pem.map(|pem| ("ca_certificate", pem)).into_iter().collect();
        Database::open(connection("redis", &format!("{scheme}://{host}:{port}"), &options))
    };
    let good = at("rediss", "localhost", secure.port, Some(&authority));
    run(&good, "SET counted 0").unwrap();
    run(&open(plain.port), "SET counted 0").unwrap();
    for (what, database, kinds) in [
        ("another authority", at("rediss", "localhost", secure.port, Some(&other)), &[Denied][..]),
        ("another name", at("rediss", "127.0.0.1", secure.port, Some(&authority)), &[Denied]),
        ("no TLS in the server", at("rediss", "localhost", plain.port, None), &[Unavailable, Protocol]),
        ("no TLS in the client", at("redis", "localhost", secure.port, None), &[Unavailable, Protocol]),
    ] {
        for access in [Access::Write, Access::Read] {
            let error = timed(&database, access, &["INCR", "counted"]).unwrap_err();
            assert!(kinds.contains(&error.kind), "{what}: {error:?}");
        }
    }
    assert_eq!(json(&good, "GET counted"), r#"[{"value":"0"}]"#);
    assert_eq!(counted(plain.port), 0);
}

#[test]
fn half_an_answer_is_none_in_either_version() {
    for (what, half) in [
        ("a value", &b"$9\r\nhal"[..]),
        ("a list", b"*2\r\n:1\r\n"),
        ("a map", b"%1\r\n+a\r\n"),
        ("a set", b"~2\r\n:1\r\n"),
        ("an attribute", b"|1\r\n+ttl\r\n:1\r\n"),
        ("a push", b">2\r\n+invalidate\r\n"),
        ("a push behind it", b":1\r\n>2\r\n+invalidate\r\n"),
        ("a verbatim text", b"=9\r\ntxt:hal"),
        ("a number", b",1.5"),
        ("an end of a line", b":1\r"),
    ] {
        for (hello, is_read) in [(Hello::Unknown, half[0] == b'$' || half[0] == b'*' || half == b":1\r"), (Hello::Resp3, true)] {
            if !is_read {
                continue;
            }
            // Silence lasts until the deadline; a connection that ends is noticed, and only a read
            // is sent again.
            let silent = Scripted::with(hello, &[AndSilence(half)]);
            for access in [Access::Write, Access::Read] {
                let before = silent.received().len();
                let error = timed(&open(silent.port), access, &["INCR", "counted"]).unwrap_err();
                assert_eq!((error.kind, silent.received().len() - before), (TimedOut, 1), "{what}");
            }
            for (access, name, expected) in [(Access::Write, "INCR", 1), (Access::Read, "GET", 2)] {
                let ended = Scripted::with(hello, &[AndEnd(half), Bytes(b":1\r\n")]);
                let outcome = timed(&open(ended.port), access, &[name, "counted"]);
                assert_eq!(ended.received().len(), expected, "{what}: {outcome:?}");
                assert!(outcome.map_or_else(|error| is_unknown(&error) && expected == 1, |_| expected == 2), "{what}");
            }
        }
    }
}
