//! D1 by its binding: what it judges like the other drivers of its dialect, and what happens when
//! it fails.

use std::thread;

use millrace_core::value::Value;
use millrace_tests::{case::Exchange, local::send, scripted::Reply, sqlite_text::check, tries};
use serde_json::{Value as Json, json};

use crate::worker_ports::kit::{wait_for, with_kit};

#[test]
fn a_statement_is_judged_as_by_the_other_drivers_of_the_dialect() {
    with_kit(|kit| {
        let run = |adapter: &str, text: &str, params: &[Value]| {
            let param = |param: &Value| match param {
                Value::I64(number) => json!(number),
                Value::Text(text) => json!(text),
                other => panic!("{other:?}"),
            };
            let params: Vec<Json> = params.iter().map(param).collect();
            let result = kit.call("query", &json!({"adapter": adapter, "sql": text, "params": params}));
            if result["isError"] == false { Ok(()) } else { Err(result["_meta"]["millrace/error"]["message"].as_str().unwrap().to_owned()) }
        };
        check("d1", &|text, params| run("main", text, params), &|text, params| run("reader", text, params));
        let named = kit.value("query", &json!({"adapter": "main", "sql": "SELECT ?1, ?2, ?1 + 1", "params": [7, "x"]}));
        assert_eq!(named, json!([{"?1": 7, "?2": "x", "?1 + 1": 8}]));
        run("main", "DROP TABLE st", &[]).unwrap();
    });
}

#[test]
fn a_read_is_sent_again_and_a_write_of_unknown_outcome_is_not() {
    const LOST: &str = "D1_ERROR: Network connection lost.";
    const RESET: &str = "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.";
    const FULL: &str = "D1_ERROR: D1 DB is overloaded. Too many requests queued.";
    const WRONG: &str = "D1_ERROR: no such column: x: SQLITE_ERROR";
    const MEMORY: &str = "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.";
    const NEW: &str = "D1_ERROR: something new";
    /// The code that becomes of it, and how often it was sent.
    type Outcome = (&'static str, usize);
    // What happens to the statements; what becomes of a read and of a write.
    let table: [(&[&str], Outcome, Outcome); 8] = [
        (&[], ("", 1), ("", 1)),
        (&[LOST], ("", 2), ("DATABASE_ERROR", 1)),
        (&[RESET], ("", 2), ("DATABASE_ERROR", 1)),
        (&[LOST, LOST], ("DATABASE_UNAVAILABLE", 2), ("DATABASE_ERROR", 1)),
        (&[FULL, FULL], ("", 3), ("", 3)),
        (&[WRONG], ("QUERY_INVALID", 1), ("QUERY_INVALID", 1)),
        (&[MEMORY], ("TIMEOUT", 1), ("TIMEOUT", 1)),
        (&[NEW, NEW], ("DATABASE_ERROR", 2), ("DATABASE_ERROR", 1)),
    ];
    with_kit(|kit| {
        for (messages, read, written) in table {
            for (tool, (expected, sent)) in [("read-main", read), ("write-main", written)] {
                kit.stand_in(&json!({"database": messages}));
                let result = kit.call(tool, &json!({}));
                let found = result["_meta"]["millrace/error"]["code"].as_str().unwrap_or_default();
                let events = kit.stand_in(&json!({"database": []}));
                let statements = events.iter().filter(|event| *event == "statement").count();
                assert_eq!((found, statements), (expected, sent), "{tool} after {messages:?}: {result}");
            }
        }
        kit.stand_in(&json!({"database": [LOST]}));
        let (_, message) = kit.failure("write-main", &json!({}));
        assert!(message.ends_with("; it is not known whether the statement took effect."), "{message}");
        // What the other tests count on.
        let values = ["one", "two", "three", "four", "five"].iter().zip(1..);
        let sql: String = values.map(|(value, id)| format!("UPDATE t SET v = '{value}' WHERE id = {id}; ")).collect();
        kit.worker().fill("DB", &sql);
    });
}

/// How many answers get lost: in all suites, and in a sample.
const LOST_ANSWERS: [usize; 2] = [1_000, 60];
/// How often the server is killed.
const KILLS: usize = 3;
/// How many keys are used at once, each by so many callers.
const KEYS: usize = 50;
const CALLERS: usize = 4;

#[test]
fn a_call_that_is_sent_again_happens_once() {
    const AFTER: &str = "after: D1_ERROR: Network connection lost.";
    const LOST: &str = "D1_ERROR: Network connection lost.";
    let lost_answers = tries(LOST_ANSWERS[0], LOST_ANSWERS[1]);
    with_kit(|kit| {
        kit.worker().fill("DB", "CREATE TABLE IF NOT EXISTS booked (id INTEGER PRIMARY KEY, k TEXT UNIQUE);");
        let text = |result: &Json| result["content"][0]["text"].as_str().unwrap().to_owned();
        let replayed = |result: &Json| result["_meta"]["millrace/replayed"] == true;
        for tool in ["once-plain", "once-returning"] {
            let first = kit.call(tool, &json!({"k": tool}));
            let again = kit.call(tool, &json!({"k": tool}));
            assert!(first["isError"] == false && !replayed(&first) && replayed(&again), "{first} {again}");
            assert_eq!(text(&first), text(&again));
            // A failed write leaves no record.
            let key = format!("taken by {tool}");
            kit.value("query", &json!({"adapter": "main", "sql": "INSERT INTO booked (k) VALUES (?1)", "params": [key]}));
            assert_eq!(kit.failure(tool, &json!({"k": key})).1, "A UNIQUE constraint refused the change: `booked.k`.");
            kit.value("query", &json!({"adapter": "main", "sql": "DELETE FROM booked WHERE k = ?1", "params": [key]}));
            let free = kit.call(tool, &json!({"k": key}));
            assert!(free["isError"] == false && !replayed(&free), "{free}");
        }
        kit.value("query", &json!({"adapter": "main", "sql": "DELETE FROM booked"}));
        for number in 0..lost_answers {
            let (tool, key) = (if number % 2 == 0 { "once-plain" } else { "once-returning" }, format!("k{number}"));
            // The batch is done and its answer lost, and so is that of the attempt after it.
            kit.stand_in(&json!({"database": [AFTER, LOST]}));
            assert_eq!(kit.failure(tool, &json!({"k": key})).0, "DATABASE_UNAVAILABLE");
            let again = kit.call(tool, &json!({"k": key}));
            if tool == "once-plain" {
                assert!(again["isError"] == false && replayed(&again) && text(&again).contains('1'), "{again}");
            } else {
                assert_eq!(again["_meta"]["millrace/error"]["code"], "ANSWER_UNKNOWN", "{again}");
            }
        }
        let count = kit.value("query", &json!({"adapter": "main", "sql": "SELECT count(*) AS n, count(DISTINCT k) AS k FROM booked"}));
        assert_eq!(count, json!([{"n": lost_answers, "k": lost_answers}]));
        // The answer is lost, and then the server itself.
        for round in 0..KILLS {
            kit.stand_in(&json!({"database": [AFTER, LOST]}));
            let arguments = json!({"k": format!("killed {round}")});
            assert_eq!(kit.failure("once-plain", &arguments).0, "DATABASE_UNAVAILABLE");
            kit.restart();
            let again = kit.call("once-plain", &arguments);
            assert!(again["isError"] == false && replayed(&again), "{again}");
        }
        let count = kit.value("query", &json!({"adapter": "main", "sql": "SELECT count(*) AS n FROM booked WHERE k LIKE 'killed %'"}));
        assert_eq!(count, json!([{"n": KILLS}]));
    });
}

#[test]
fn of_calls_with_one_key_at_once_one_writes() {
    with_kit(|kit| {
        kit.worker().fill("DB", "CREATE TABLE IF NOT EXISTS booked (id INTEGER PRIMARY KEY, k TEXT UNIQUE);");
        kit.value("query", &json!({"adapter": "main", "sql": "DELETE FROM booked"}));
        let port = kit.worker().port;
        let result = |request: &Exchange| {
            let answer = send(port, request);
            serde_json::from_str::<Json>(answer.split_once("\n\n").unwrap().1).unwrap_or_else(|error| panic!("{error}: {answer}"))["result"]
                .take()
        };
        for number in 0..KEYS {
            let request = Exchange::call(["once-plain", "once-returning"][number % 2], &json!({"k": format!("shared {number}")}));
            let results: Vec<Json> = thread::scope(|scope| {
                let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(|| result(&request))).collect();
                callers.into_iter().map(|caller| caller.join().unwrap()).collect()
            });
            let is_first = |result: &&Json| result["isError"] == false && result["_meta"]["millrace/replayed"] != true;
            let first: Vec<_> = results.iter().filter(is_first).collect();
            assert_eq!(first.len(), 1, "{results:?}");
            for other in results.iter().filter(|result| !is_first(result)) {
                let code = other["_meta"]["millrace/error"]["code"].as_str().unwrap_or_default();
                let is_replay = code.is_empty() && other["content"][0] == first[0]["content"][0];
                assert!(is_replay || ["CONFLICT", "DATABASE_BUSY", "ANSWER_UNKNOWN"].contains(&code), "{other}");
            }
        }
        let count = kit.value("query", &json!({"adapter": "main", "sql": "SELECT count(*) AS n, count(DISTINCT k) AS k FROM booked"}));
        assert_eq!(count, json!([{"n": KEYS, "k": KEYS}]));
    });
}

#[test]
fn an_audit_row_is_as_documented() {
    const HOSTILE: &str = "x'); DELETE FROM audit_log; --\n\u{1b}[2J\u{202e}\"";
    with_kit(|kit| {
        let documented = include_str!("../../../docs/audit.md").split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
        kit.worker().fill("DB", &documented.replace('\n', " "));
        kit.script.set(&[Reply::Whole(200, "text/plain", "yes".into())]);
        for who in ["ada", HOSTILE] {
            kit.value("audited", &json!({"url": kit.url("/a"), "who": who}));
        }
        let sql = "SELECT tool, subject, decision, decided_by, outcome, code, inputs, change_made, length(request_id) AS id, \
                   at BETWEEN '2026' AND '3' AND duration_ms < 60000 AS sane FROM audit_log ORDER BY at";
        let rows = || kit.value("query", &json!({"adapter": "main", "sql": sql}));
        wait_for(|| rows().as_array().is_some_and(|rows| rows.len() == 2));
        let row = |who: &str| {
            json!({
                "tool": "audited", "subject": who, "decision": "allowed", "decided_by": null, "outcome": "ok", "code": null,
                "inputs": "url,method,who", "change_made": null, "id": 32, "sane": 1,
            })
        };
        assert_eq!(rows(), json!([row("ada"), row(&millrace_core::hidden::visible(HOSTILE))]));
        // A database that is down fails no call.
        kit.stand_in(&json!({"database": ["D1_ERROR: something new", "D1_ERROR: something new"]}));
        kit.value("audited", &json!({"url": kit.url("/a"), "who": "eve"}));
        wait_for(|| kit.worker().log().contains("the audit row cannot be written"));
        assert_eq!(kit.worker().log().matches("the audit row cannot be written").count(), 1);
    });
}

#[test]
fn what_is_more_than_d1_takes_is_named() {
    with_kit(|kit| {
        let numbered = (1..=101).map(|number| format!("?{number}")).collect::<Vec<_>>().join(", ");
        for placeholders in [numbered, vec!["?"; 101].join(", ")] {
            let arguments = json!({"adapter": "main", "sql": format!("SELECT {placeholders}"), "params": vec!["x"; 101]});
            assert_eq!(kit.failure("query", &arguments).1, "the statement has more values than D1 allows, 100");
        }
    });
}
