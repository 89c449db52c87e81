//! Hostile values through every form of placeholder: each arrives to the byte as one argument, and
//! nothing else happens.

use std::collections::BTreeSet;

use millrace_core::{Json, hidden::visible, value::Value};
use millrace_tests::{
    database::{Database, connection, runtime},
    redis,
};

use crate::in_process::{call, endpoint, hostile_values, text};

use super::support::{Answer::Bytes, Hello, Scripted, raw};

/// The tools of an app: name, statement, and the arguments that a value `s` and a list of three
/// become.
pub(super) const FORMS: [(&str, &str, &str); 9] = [
    ("whole", "SET {{ inputs.s }} {{ inputs.s }}", "SET|<>|<>"),
    ("quoted", "SET \"{{ inputs.s }}\" '{{ inputs.s }}'", "SET|<>|<>"),
    ("start", "SET {{ inputs.s }}:k v", "SET|<>:k|v"),
    ("end", "SET user:{{ inputs.s }} v", "SET|user:<>|v"),
    ("middle", "SET \"a \\\"{{ inputs.s }}\\n\" v", "SET|a \"<>\n|v"),
    ("single", "SET 'it\\'s {{ inputs.s }}' v", "SET|it's <>|v"),
    ("twice", "SET {{ inputs.s }}/{{ inputs.s }} v", "SET|<>/<>|v"),
    ("list", "MSET {{ inputs.list }} v", "MSET|one|<>|<>|v"),
    ("last", "LPUSH kept:{{ inputs.s }} {{ inputs.list }}", "LPUSH|kept:<>|one|<>|<>"),
];

pub(crate) fn values() -> Vec<String> {
    let own = ["a b", "\r\n", "k v\r\nFLUSHALL\r\n", "*1\r\n$8\r\nFLUSHALL\r\n", "$-1\r\n", "\"", "\\x41", "' DEL canary '", "NX", "GET"]
        .map(str::to_owned);
    hostile_values().into_iter().chain(own).collect()
}

/// The same, and what something on the way could change.
pub(super) fn every_value() -> Vec<String> {
    let awkward =
        ["a\\b", "\t\r\n", "zażółć 🙂", "\u{7f}\u{2028}", "1e300", "-0.0", "18446744073709551615", "OK", "T0s="].map(str::to_owned);
    values().into_iter().chain(awkward).collect()
}

pub(super) fn tools() -> Vec<(&'static str, &'static str, &'static str)> {
    let inputs = "inputs:\n  s: { type: string }\n  list: { type: array, items: { type: string }, optional: true }\n";
    FORMS.map(|(name, statement, _)| (name, statement, inputs)).to_vec()
}

pub(crate) fn given(value: &str) -> Json {
    serde_json::json!({ "s": value, "list": ["one", value, value] })
}

/// The arguments that an author wrote for each value, in this form.
pub(super) fn arguments_of(form: &str, value: &str) -> Vec<String> {
    form.split('|').map(|argument| argument.replace("<>", value)).collect()
}

#[test]
fn each_value_is_one_argument() {
    for hello in [Hello::Unknown, Hello::Resp3] {
        each_value_is_one_argument_of(hello);
    }
}

fn each_value_is_one_argument_of(hello: Hello) {
    let server = Scripted::with(hello, &[Bytes(b"+OK\r\n")]);
    let (endpoint, _folder) = endpoint(&format!("connector: redis\nconnection_string: redis://127.0.0.1:{}\n", server.port), &tools());
    let mut expected: Vec<Vec<Vec<u8>>> = Vec::new();
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for (tool, _, arguments) in FORMS {
            for value in every_value() {
                let result = call(&endpoint, tool, given(&value)).await;
                assert!(!result.is_error, "{tool} {value:?}: {}", text(&result));
                expected.push(arguments_of(arguments, &value).into_iter().map(String::into_bytes).collect());
            }
        }
    });
    let received = server.received();
    assert_eq!(received.len(), expected.len());
    for (received, expected) in received.iter().zip(&expected) {
        let shown = |words: &[Vec<u8>]| words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>();
        assert!(received == expected, "{:?} instead of {:?}", shown(received), shown(expected));
    }
    println!("{} commands, each with the arguments that its author wrote", received.len());
}

#[test]
fn nothing_else_happens_in_a_real_server() {
    let server = redis::start(&[]);
    assert_eq!(raw(server.port, &[b"SET", b"canary", b"alive"]), "+OK");
    let adapter = format!("connector: redis\nconnection_string: redis://127.0.0.1:{}\n", server.port);
    let inputs = "inputs: { s: { type: string } }\n";
    let (endpoint, _folder) = endpoint(
        &adapter,
        &[
            ("put", "SET k:{{ inputs.s }} {{ inputs.s }}", inputs),
            ("get", "GET k:{{ inputs.s }}", inputs),
            ("push", "RPUSH all {{ inputs.s }}", inputs),
            ("field", "HSET h {{ inputs.s }} \"<{{ inputs.s }}>\"", inputs),
        ],
    );
    let mut values = every_value();
    values.sort();
    values.dedup();
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for value in &values {
            for tool in ["put", "push", "field"] {
                assert!(!call(&endpoint, tool, serde_json::json!({ "s": value })).await.is_error, "{tool} {value:?}");
            }
            let found: Json = serde_json::from_str(text(&call(&endpoint, "get", serde_json::json!({ "s": value })).await)).unwrap();
            assert_eq!(found, serde_json::json!([{ "value": visible(value) }]));
        }
    });
    let count = values.len();
    assert_eq!(raw(server.port, &[b"DBSIZE"]), format!(":{}", count + 3), "one key for each value, and canary, all and h");
    assert_eq!(raw(server.port, &[b"LLEN", b"all"]), format!(":{count}"));
    assert_eq!(raw(server.port, &[b"HLEN", b"h"]), format!(":{count}"));
    assert_eq!(raw(server.port, &[b"STRLEN", b"canary"]), ":5");
    for (place, value) in values.iter().enumerate() {
        let length = format!("${}", value.len());
        assert_eq!(raw(server.port, &[b"LINDEX", b"all", place.to_string().as_bytes()]), length, "{value:?}");
        assert_eq!(raw(server.port, &[b"HGET", b"h", value.as_bytes()]), format!("${}", value.len() + 2), "{value:?}");
    }
}

/// Values through the text that a script writes, and back.
pub(super) fn scripts_write_each_value(port: u16, database: &Database) {
    assert_eq!(raw(port, &[b"SET", b"canary", b"alive"]), "+OK");
    let distinct: BTreeSet<String> = every_value().into_iter().collect();
    for value in &distinct {
        let value = Value::Text(value.clone());
        let list = Value::Array(vec![Value::Text("one".to_owned()), value.clone()]);
        database.run("SET $1 $1", std::slice::from_ref(&value)).unwrap();
        database.run("RPUSH all $1 '$1' \"$1\"", &[list]).unwrap();
        assert_eq!(database.run("GET $1", std::slice::from_ref(&value)).unwrap().rows, [[value.clone()]]);
        assert_eq!(database.run("LRANGE all -3 -1", &[]).unwrap().rows, [[value], [Value::Text("$1".into())], [Value::Text("$1".into())]]);
    }
    let count = distinct.len();
    assert_eq!(raw(port, &[b"DBSIZE"]), format!(":{}", count + 2), "each value as a key, canary and all");
    assert_eq!(raw(port, &[b"LLEN", b"all"]), format!(":{}", 4 * count));
    assert_eq!(raw(port, &[b"STRLEN", b"canary"]), ":5");
}

#[test]
fn a_script_writes_each_value_as_one_argument() {
    for version in ["2", "3"] {
        let server = redis::start(&["--appendfsync", "no"]);
        scripts_write_each_value(server.port, &open(server.port, version));
    }
}

fn open(port: u16, version: &str) -> Database {
    Database::open(connection("redis", &format!("redis://127.0.0.1:{port}"), &[("protocol", version)]))
}
