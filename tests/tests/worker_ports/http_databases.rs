//! Databases behind HTTP: `libsql` on a real server, `d1` by the REST API on its stand-in, and
//! servers of both that misbehave.

use millrace_core::ErrorKind::Unavailable;
use millrace_tests::{
    failures::{self, Case, Outcome},
    scripted::Reply,
};
use serde_json::{Value as Json, json};

use crate::worker_ports::kit::{Kit, TOKEN, code, with_kit};

/// What a tool with one of the two statements made of a case.
fn found(kit: &Kit, tool: &str, replies: &[Reply]) -> (Result<usize, String>, usize) {
    kit.script.set(replies);
    let before = kit.server.received().len();
    let result = kit.call(tool, &json!({}));
    let outcome = match result["isError"].as_bool() {
        Some(false) => Ok(serde_json::from_str::<Vec<Json>>(result["content"][0]["text"].as_str().unwrap()).unwrap().len()),
        _ => Err(result["_meta"]["millrace/error"]["code"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()),
    };
    (outcome, kit.server.received().len() - before)
}

fn check(adapter: &str, cases: Vec<Case>) {
    with_kit(|kit| {
        for Case { what, replies, read, written } in cases {
            let expected = |(outcome, requests): Outcome| (outcome.map_err(|kind| code(kind).to_owned()), requests);
            assert_eq!(found(kit, &format!("read-{adapter}"), &replies), expected(read), "{what}: a read");
            assert_eq!(found(kit, &format!("write-{adapter}"), &replies), expected(written), "{what}: a write");
        }
        let received = kit.server.received();
        let sent: Vec<_> = received.iter().filter(|request| request.line.starts_with("POST")).collect();
        assert!(sent.len() > 40, "{}", sent.len());
        for request in sent {
            assert!(request.head.contains(&format!("Authorization: Bearer {TOKEN}\r\n")) && !request.line.contains(TOKEN), "{request:?}");
        }
    });
}

#[test]
fn a_libsql_server_that_misbehaves() {
    check("lame-server", failures::libsql());
}

#[test]
fn an_api_of_d1_that_misbehaves() {
    check("lame-api", failures::d1());
}

#[test]
fn a_server_that_nobody_reaches_is_no_server_that_lost_an_answer() {
    with_kit(|kit| {
        let (found, _) = kit.failure("read-nowhere", &json!({}));
        assert_eq!(found, code(Unavailable));
        // The platform does not say whether anything was sent.
        let (found, message) = kit.failure("write-nowhere", &json!({}));
        assert_eq!(found, "DATABASE_ERROR");
        assert!(message.ends_with("; it is not known whether the statement took effect."), "{message}");
    });
}

#[test]
fn statements_and_values_reach_every_database() {
    let hostile: Vec<String> = serde_json::from_str(include_str!("../../data/hostile-values.json")).unwrap();
    with_kit(|kit| {
        for adapter in ["server", "api", "main"] {
            let query = |sql: &str, params: Json| kit.call("query", &json!({"adapter": adapter, "sql": sql, "params": params}));
            let rows = |sql: &str, params: Json| {
                let result = query(sql, params);
                assert_eq!(result["isError"], false, "{adapter}: {sql}: {result}");
                serde_json::from_str::<Json>(result["content"][0]["text"].as_str().unwrap()).unwrap()
            };
            rows("CREATE TABLE s (id INTEGER PRIMARY KEY, v UNIQUE, b)", json!([]));
            assert_eq!(rows("INSERT INTO s (v) VALUES (?1), (?2), (NULL)", json!(["a", 7])), json!([]), "{adapter}");
            let read = rows("SELECT id, v, typeof(v) AS t, 2.5 AS r FROM s WHERE id > ?1 ORDER BY id LIMIT ?2", json!([0, 2]));
            let expected = json!([{"id": 1, "v": "a", "t": "text", "r": 2.5}, {"id": 2, "v": 7, "t": "integer", "r": 2.5}]);
            assert_eq!(read, expected, "{adapter}");
            assert_eq!(rows("SELECT v FROM s WHERE id > 99", json!([])), json!([]), "{adapter}");
            assert_eq!(rows("DELETE FROM s WHERE v = 7 RETURNING id", json!([])), json!([{"id": 2}]), "{adapter}");
            for (sql, message) in [
                ("INSERT INTO s (v) VALUES ('a')", "a UNIQUE constraint refused the change: `s.v`"),
                ("SELECT * FROM nowhere", "SQLite does not understand the statement"),
                ("SELECT 1; SELECT 2", "the query contains more than one statement"),
            ] {
                let said = query(sql, json!([]))["_meta"]["millrace/error"]["message"].clone();
                assert!(said.as_str().is_some_and(|said| said.starts_with(message)), "{adapter}: {sql}: {said}");
            }
            let round = kit.value("round-trip", &json!({"adapter": adapter, "values": hostile}));
            assert_eq!(round, json!({"lost": [], "left": 0}), "{adapter}");
        }
    });
}

#[test]
fn an_integer_that_d1_rounds_is_refused_and_one_of_libsql_is_whole() {
    let sql = "SELECT 9007199254740993 AS total";
    with_kit(|kit| {
        for adapter in ["api", "main"] {
            let (_, message) = kit.failure("query", &json!({"adapter": adapter, "sql": sql}));
            assert!(message.contains("the column `total` contains a number beyond 2^53"), "{adapter}: {message}");
        }
        let whole = kit.call("query", &json!({"adapter": "server", "sql": sql}));
        assert!(whole["content"][0]["text"].as_str().unwrap().contains("9007199254740993"), "{whole}");
    });
}
