//! What one function may take: values of a caller do not hold an isolate.

use millrace_core::ports::{Command, Query};
use millrace_core::{ErrorKind, value::Value};

use crate::support::{Isolate, query, text, with_options};

const MILLION: usize = 1_000_000;

#[test]
fn a_long_pattern_is_refused_and_the_message_names_the_limit() {
    let isolate = Isolate::memory("CREATE TABLE notes (text TEXT)");
    let long = format!("%{}b%", "a".repeat(24_000));
    isolate.run("INSERT INTO notes VALUES (?1)", &[text(&"a".repeat(MILLION))]).unwrap();
    for (operator, name) in [("LIKE", "LIKE"), ("NOT LIKE", "LIKE"), ("GLOB", "GLOB")] {
        let error = isolate.run(&format!("SELECT 1 FROM notes WHERE text {operator} ?1"), &[text(&long)]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data, "{error:?}");
        assert_eq!(error.message, format!("the pattern of `{name}` has 24003 bytes, and connector `sqlite` takes at most 1000"));
    }
    let most = format!("%{}%", "a".repeat(998));
    assert_eq!(isolate.run("SELECT count(*) FROM notes WHERE text LIKE ?1", &[text(&most)]).unwrap().rows, [[Value::I64(1)]]);
}

#[test]
fn a_comparison_ends_at_its_deadline() {
    let isolate = Isolate::memory("");
    let params = [text(&"a".repeat(MILLION)), text(&format!("*{}b*", "[a-c]a".repeat(160)))];
    // Every look at the clock is a millisecond here, so this says how often it is looked at.
    isolate.clock.tick_ms.set(1);
    let error = isolate
        .run_with(&Query { command: Command::Statement { text: "SELECT ?1 GLOB ?2", values: &params }, deadline_ms: 100, ..query("") })
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::TimedOut, "{error:?}");
    assert_eq!(isolate.rows("SELECT 'x' LIKE 'X'"), [[Value::I64(1)]]);
}

#[test]
fn what_grows_too_long_is_refused() {
    let isolate = Isolate::memory("");
    let deep = format!("{}{}{}", "[".repeat(900), "0,".repeat(MILLION / 2), "0");
    let deep = deep + &"]".repeat(900);
    let cases = [
        ("SELECT length(json_pretty(?1))", vec![text(&deep)]),
        ("SELECT length(replace(?1, 'a', ?1))", vec![text(&"a".repeat(5000))]),
        ("SELECT length(hex(zeroblob(10000000)))", vec![]),
        ("SELECT length(printf('%20000000d', 1))", vec![]),
        ("SELECT zeroblob(20000000)", vec![]),
        ("SELECT ?1", vec![text(&"a".repeat(9 << 20))]),
    ];
    for (statement, params) in cases {
        let error = isolate.run(statement, &params).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data, "{statement}: {error:?}");
        assert_eq!(error.message, "a text or blob has more than 8388608 bytes, which is the limit of connector `sqlite`", "{statement}");
    }
    let members: Vec<String> = (0..60_000).map(|number| format!("\"{number}\":1")).collect();
    let object = text(&format!("{{{}}}", members.join(",")));
    let error = isolate.run("SELECT length(json_patch(?1, ?2))", &[object.clone(), object]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Data);
    assert!(error.message.starts_with("`json_patch` of "), "{error:?}");
}

#[test]
fn functions_work_in_the_schema_too() {
    let isolate = Isolate::memory(
        "CREATE TABLE t (a TEXT CHECK (a LIKE 'x%'), b GENERATED ALWAYS AS (replace(a, 'x', 'y')));
         CREATE INDEX i ON t (instr(a, 'b'));
         CREATE VIEW v AS SELECT trim(a, 'x') AS c FROM t WHERE a GLOB 'x*'",
    );
    isolate.run("INSERT INTO t (a) VALUES ('xbx')", &[]).unwrap();
    assert_eq!(isolate.error("INSERT INTO t (a) VALUES ('b')").kind, ErrorKind::Constraint);
    assert_eq!(isolate.rows("SELECT b, c FROM t, v WHERE instr(a, 'b') = 2"), [[text("yby"), text("b")]]);
}

#[test]
fn what_is_searched_for_has_a_limit() {
    let isolate = Isolate::memory("CREATE VIRTUAL TABLE notes USING fts5(body); INSERT INTO notes VALUES ('ada went home')");
    let statement = "SELECT body FROM notes WHERE notes MATCH ?1";
    for _ in 0..2 {
        assert_eq!(isolate.run(statement, &[text("ada")]).unwrap().rows, [[text("ada went home")]]);
        let error = isolate.run(statement, &[text(&"ada ".repeat(300))]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Data);
        assert_eq!(error.message, "a text of the statement with `MATCH` has 1200 bytes, and connector `sqlite` takes at most 1000 there");
    }
    isolate.run("INSERT INTO notes VALUES (?1)", &[text(&"ada ".repeat(300))]).unwrap();
}

#[test]
fn a_prefix_uses_an_index_where_that_is_asked_for() {
    let seed = "CREATE TABLE t (name TEXT COLLATE NOCASE); CREATE INDEX i ON t (name); INSERT INTO t VALUES ('Ada'), ('Bob')";
    for (option, plan) in [("true", "SEARCH"), ("false", "SCAN")] {
        let connection = with_options(":memory:", &[("like_uses_index", option)]);
        let isolate = Isolate::new(std::path::Path::new("/"), millrace_core::ports::Connection { seed: Some(seed.into()), ..connection });
        let rows = isolate.rows("EXPLAIN QUERY PLAN SELECT name FROM t WHERE name LIKE 'a%'");
        assert!(matches!(&rows[0][3], Value::Text(detail) if detail.starts_with(plan)), "{rows:?}");
        assert_eq!(isolate.rows("SELECT name FROM t WHERE name LIKE 'a%'"), [[text("Ada")]]);
        let long = isolate.run("SELECT name FROM t WHERE name LIKE ?1", &[text(&format!("%{}", "a".repeat(60)))]);
        match option {
            "false" => assert_eq!(long.unwrap().rows.len(), 0),
            _ => assert!(
                long.unwrap_err()
                    .message
                    .ends_with("has more than 50 bytes, the most that connector `sqlite` takes with `like_uses_index`")
            ),
        }
    }
}
