//! The connector `d1` on a stand-in for Cloudflare's API, which runs the statements on a SQLite of
//! its own, and on answers that are broken.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says so by a panic")]

use millrace_core::{
    Error,
    ErrorKind::{Configuration, Constraint, Data, Protocol, Syntax, TooLarge},
    Json,
    app::Access,
    ports::{BoundStep, BoundTransaction, CallRecord, Command, Connection, Query, RecordedWrite},
    value::{Rows, Value},
};
use millrace_tests::{
    Exchange,
    d1_api::{PATH, stand_in},
    database::{Database, connection, query, text},
    failures::{D1 as GOOD, json},
    local::send,
    scripted::{Reply, Scripted},
};

fn settings(server: &Scripted) -> Connection {
    let base_url = format!("http://{}/client/v4", server.address);
    connection("d1", "d1://0a1b/1111-2222", &[("api_token", "t.o.k"), ("base_url", &base_url)])
}

fn open(server: &Scripted) -> Database {
    Database::open(settings(server))
}

fn shop() -> (Scripted, Database) {
    let server = stand_in();
    let database = open(&server);
    (server, database)
}

fn once(database: &Database, statement: &str, values: &[Value], key: &str, now_s: i64) -> Result<RecordedWrite, Error> {
    let query = Query { command: Command::Statement { text: statement, values }, ..query(statement) };
    database.write_once(&query, CallRecord { key, now_s, expires_s: now_s + 60 })
}

#[test]
fn a_write_happens_once_for_a_key() {
    const RETURNING: &str = "INSERT INTO t (k) VALUES (?1) RETURNING id, k";
    const PLAIN: &str = "INSERT INTO t (k) VALUES (?1)";
    let (server, database) = shop();
    database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT UNIQUE)", &[]).unwrap();
    let affected = |affected| Rows { affected, ..Rows::default() };
    let row = Rows {
        columns: ["id".to_owned(), "k".to_owned()].into(),
        rows: vec![vec![Value::I64(1), text("a")]],
        affected: 0,
        truncated: false,
        ..Rows::default()
    };
    assert_eq!(once(&database, RETURNING, &[text("a")], "k", 0), Ok(RecordedWrite::Made(row.clone())));
    assert_eq!(once(&database, RETURNING, &[text("b")], "k", 59), Ok(RecordedWrite::MadeBefore(row)));
    assert_eq!(once(&database, PLAIN, &[text("b")], "l", 0), Ok(RecordedWrite::Made(affected(1))));
    assert_eq!(once(&database, PLAIN, &[text("b")], "l", 0), Ok(RecordedWrite::MadeBefore(affected(1))));
    let all = "UPDATE t SET k = k || ?1 WHERE id > ?2";
    let values = [text("!"), Value::I64(0)];
    assert_eq!(once(&database, all, &values, "m", 0), Ok(RecordedWrite::Made(affected(2))));
    assert_eq!(once(&database, all, &values, "m", 0), Ok(RecordedWrite::MadeBefore(affected(2))));
    assert_eq!(once(&database, "CREATE TABLE u (v)", &[], "n", 0), Ok(RecordedWrite::Made(affected(0))));
    assert_eq!(once(&database, "CREATE TABLE u (v)", &[], "n", 0), Ok(RecordedWrite::MadeBefore(affected(0))));
    // A record that is over, a write that fails, and one whose statement is wrong.
    assert_eq!(once(&database, PLAIN, &[text("c")], "l", 60), Ok(RecordedWrite::Made(affected(1))));
    let taken = once(&database, PLAIN, &[text("c")], "o", 0).unwrap_err();
    assert_eq!((taken.kind, taken.message.as_str()), (Constraint, "a UNIQUE constraint refused the change: `t.k`"));
    let wrong = once(&database, "INSERT INTO t (k, nothing) VALUES (?1, ?2)", &values, "o", 0).unwrap_err();
    assert_eq!(wrong.kind, Syntax, "{wrong:?}");
    assert_eq!(once(&database, PLAIN, &[text("d")], "o", 0), Ok(RecordedWrite::Made(affected(1))));
    assert_eq!(database.prepare_records(), Ok(()));
    // The record and the change are one request.
    let batches: Vec<_> = server.received().into_iter().filter(|request| request.body.contains("\"batch\"")).collect();
    assert!(batches.iter().all(|request| request.body.contains("millrace_calls")) && batches.len() >= 10, "{}", batches.len());
    // Too many rows: the change is made, and said to be.
    let many = Query { max_rows: 1, ..query("UPDATE t SET k = k || '?' RETURNING id") };
    let error = database.write_once(&many, CallRecord { key: "p", now_s: 0, expires_s: 60 }).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (TooLarge, "the result has more than `max_rows`, 1 rows; the statement took effect"));
    assert!(matches!(database.write_once(&many, CallRecord { key: "p", now_s: 0, expires_s: 60 }), Ok(RecordedWrite::MadeBefore(_))));
    let (_server, database) = shop();
    assert_eq!((database.prepare_records(), database.prepare_records()), (Ok(()), Ok(())));
    // Rows that were never stored: the connection broke right after the batch.
    database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT UNIQUE)", &[]).unwrap();
    once(&database, RETURNING, &[text("a")], "k", 0).unwrap();
    database.run("UPDATE millrace_calls SET rows = NULL", &[]).unwrap();
    assert_eq!(once(&database, RETURNING, &[text("a")], "k", 0), Ok(RecordedWrite::MadeBeforeUnknown));
    // A table of somebody else's.
    database.run("DROP TABLE millrace_calls", &[]).unwrap();
    database.run("CREATE TABLE millrace_calls (a)", &[]).unwrap();
    for error in [once(&database, PLAIN, &[text("d")], "q", 0).unwrap_err(), database.prepare_records().unwrap_err()] {
        assert_eq!(error.kind, Configuration, "{error:?}");
    }
}

#[test]
fn a_write_with_a_record_is_sent_again_after_503_and_made_once() {
    const RETURNING: &str = "INSERT INTO t (k) VALUES (?1) RETURNING id, k";
    let (server, database) = shop();
    database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT)", &[]).unwrap();
    database.prepare_records().unwrap();
    let port = server.address.port();
    // A gateway that loses the first answer, of a batch that was committed.
    let gateway = Scripted::start(move |number, request| {
        let is_forwarded = |name: &str| ["authorization", "content-type"].contains(&name.to_ascii_lowercase().as_str());
        let headers = request.head.lines().filter_map(|line| line.split_once(':')).filter(|(name, _)| is_forwarded(name));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        let path = request.line.split(' ').nth(1).unwrap_or_default().to_owned();
        let answer = send(port, &Exchange { method: "POST".to_owned(), path, headers, body: request.body.clone() });
        let (_, body) = answer.split_once("\n\n").unwrap_or_default();
        if number == 0 { json(503, "") } else { Reply::Whole(200, "application/json", body.to_owned()) }
    });
    let outcome = once(&open(&gateway), RETURNING, &[text("a")], "k", 0);
    assert_eq!(outcome, Ok(RecordedWrite::MadeBeforeUnknown), "what the write returned was not stored yet");
    assert!(gateway.received().len() >= 2);
    assert_eq!(database.run("SELECT k FROM t", &[]).unwrap().rows, [[text("a")]]);
    // Without a record it is sent once, and the error says what is not known.
    let lost = Scripted::with(vec![json(503, "")]);
    let error = open(&lost).run(RETURNING, &[text("b")]).unwrap_err();
    assert_eq!((error.kind, lost.received().len()), (Protocol, 1));
    assert_eq!(error.message, "D1 is not ready; it is not known whether the statement took effect");
}

/// Every value, bound, stored in a column without affinity and read back: what comes out, and as
/// which of SQLite's types it was stored.
#[test]
fn values_go_in_whole_and_come_out_as_javascript_writes_them() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let same = |value: Value, kind: &'static str| (value.clone(), value, kind);
    let cases = [
        same(Value::Null, "null"),
        (Value::Bool(true), Value::I64(1), "integer"),
        (Value::Bool(false), Value::I64(0), "integer"),
        same(Value::I64(0), "integer"),
        same(Value::I64((1 << 53) - 1), "integer"),
        same(Value::I64(1 - (1 << 53)), "integer"),
        (Value::U64(7), Value::I64(7), "integer"),
        (Value::U64(u64::MAX), text("18446744073709551615"), "text"),
        same(Value::F64(1.5), "real"),
        (Value::F64(1.0), Value::I64(1), "real"),
        same(Value::F64(0.1), "real"),
        same(Value::F64(1e300), "real"),
        (Value::F64(f64::NAN), Value::Null, "null"),
        (Value::Decimal("1.50".into()), text("1.50"), "text"),
        same(text(""), "text"),
        same(text("a\0b"), "text"),
        same(text("o'neil; -- \\ \t\r\n"), "text"),
        same(text("zażółć 🙂 👩‍👩‍👧 \u{202e}"), "text"),
        same(text("null"), "text"),
        same(Value::Bytes(vec![]), "blob"),
        same(Value::Bytes(every_byte), "blob"),
        (Value::Timestamp("2026-01-02T03:04:05.123456Z".into()), text("2026-01-02T03:04:05.123456Z"), "text"),
        (Value::Json(Json::from("a\"b")), text(r#""a\"b""#), "text"),
        (Value::Array(vec![Value::I64((1 << 53) + 1), text("o'neil")]), text(r#"[9007199254740993,"o'neil"]"#), "text"),
    ];
    let (server, database) = shop();
    database.ping().unwrap();
    database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v)", &[]).unwrap();
    for (index, (value, expected, kind)) in cases.into_iter().enumerate() {
        let id = Value::I64(index as i64);
        let stored = database.run("INSERT INTO t VALUES (?1, ?2)", &[id.clone(), value.clone()]).unwrap();
        assert_eq!(stored, Rows { affected: 1, ..Rows::default() }, "{value:?}");
        let read = database.run("SELECT v, typeof(v), '?2' FROM t WHERE id = ?1", std::slice::from_ref(&id)).unwrap();
        assert_eq!(read.rows[0], [expected, text(kind), text("?2")], "{value:?}");
    }
    let infinity = database.run("SELECT ?1", &[Value::F64(f64::INFINITY)]).unwrap_err();
    assert_eq!(infinity.kind, Data);
    for request in server.received() {
        assert_eq!(request.line, format!("POST {PATH} HTTP/1.1"));
        assert!(request.head.contains("authorization: Bearer t.o.k\r\n"), "{request:?}");
    }
}

#[test]
fn integers_go_in_exactly_and_a_rounded_one_is_refused() {
    let (_server, database) = shop();
    for value in [(1 << 53) + 1, -(1 << 53) - 1, i64::MAX, i64::MIN] {
        let error = database.run("SELECT 1 AS v, ?1 AS total", &[Value::I64(value)]).unwrap_err();
        assert_eq!(error.kind, Protocol);
        assert!(error.message.contains("`CAST(total AS TEXT) AS total`"), "{error:?}");
        let read = database.run("SELECT CAST(?1 AS TEXT), typeof(?1)", &[Value::I64(value)]).unwrap();
        assert_eq!(read.rows, [[text(&value.to_string()), text("integer")]]);
    }
    // A script may write its parameters without numbers.
    let read = database.run("SELECT ?, typeof(?), ?1", &[text("7"), Value::I64(7)]).unwrap();
    assert_eq!(read.rows, [[text("7"), text("integer"), text("7")]]);
    assert_eq!(database.run("SELECT :a", &[Value::I64(7)]).unwrap_err().kind, Syntax);
}

#[test]
fn hostile_values_stay_values() {
    let values: Vec<String> = serde_json::from_str(include_str!("../data/hostile-values.json")).unwrap();
    let (_server, database) = shop();
    database.run("CREATE TABLE t (v TEXT, n INT)", &[]).unwrap();
    database.run("INSERT INTO t VALUES ('bystander', 0)", &[]).unwrap();
    for value in &values {
        // Beside a number, so that the statement is rewritten.
        database.run("INSERT INTO t VALUES (?1, ?2)", &[text(value), Value::I64(1)]).unwrap();
        assert_eq!(database.run("SELECT v FROM t WHERE v = ?1 AND n > 0", &[text(value)]).unwrap().rows, [[text(value)]]);
        assert_eq!(database.run("DELETE FROM t WHERE v = ?1", &[text(value)]).unwrap().affected, 1, "{value}");
    }
    assert_eq!(database.rows("SELECT v FROM t"), [[text("bystander")]]);
}

#[test]
fn rows_counts_and_empty_lists() {
    let (_server, database) = shop();
    let affected = |text: &str| database.run(text, &[]).unwrap();
    assert_eq!(affected("CREATE TABLE t (id INTEGER PRIMARY KEY, v UNIQUE)"), Rows::default());
    assert_eq!(affected("INSERT INTO t (v) VALUES (1), (2), (3)").affected, 3);
    assert_eq!(affected("UPDATE t SET v = 0 WHERE v = 99"), Rows::default());
    let rows = database.run("SELECT v, id, 7 AS v FROM t WHERE id > ?1 LIMIT ?2", &[Value::I64(1), Value::I64(1)]).unwrap();
    assert_eq!(
        (&*rows.columns, rows.rows),
        (&["v", "id", "v_2"].map(String::from)[..], vec![vec![Value::I64(2), Value::I64(2), Value::I64(7)]])
    );
    assert_eq!(database.run("DELETE FROM t WHERE v = 2 RETURNING id", &[]).unwrap().rows, [[Value::I64(2)]]);
    for statement in
        ["SELECT id FROM t WHERE id < 0", "DELETE FROM t WHERE id < 0 RETURNING id", "WITH a AS (SELECT 1) SELECT 1 FROM a WHERE 0"]
    {
        let empty = database.run(statement, &[]).unwrap();
        assert_eq!(serde_json::to_string(&empty.json()).unwrap(), "[]", "{statement}");
    }
    let limited = Query { max_rows: 1, ..query("UPDATE t SET v = id RETURNING id") };
    let message = "the result has more than `max_rows`, 1 rows; the statement took effect";
    assert_eq!(database.run_with(&limited).unwrap_err(), Error::new(TooLarge, message));
}

#[test]
fn a_wrong_statement_or_value_is_told_without_its_values() {
    let (_server, database) = shop();
    database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)", &[]).unwrap();
    database.run("INSERT INTO t VALUES (1, 'Ada')", &[]).unwrap();
    let cases = [
        ("SELEC 1", Syntax, "SQLite does not understand the statement at byte 0"),
        ("SELECT * FROM nowhere", Syntax, "SQLite does not understand the statement"),
        ("SELECT ?1", Syntax, "the statement expects a different number of values"),
        ("SELECT 1; SELECT 2", Syntax, "the query contains more than one statement"),
        ("INSERT INTO t (name) VALUES ('Ada')", Constraint, "a UNIQUE constraint refused the change: `t.name`"),
        ("INSERT INTO t (id, name) VALUES (1, 'B')", Constraint, "a PRIMARY KEY constraint refused the change: `t.id`"),
        ("INSERT INTO t (id) VALUES (2)", Constraint, "a NOT NULL constraint refused the change: `t.name`"),
        (
            "SELECT json_extract('{secret', '$')",
            Data,
            "SQLite refused a value or the result of a computation: a JSON document, or a path into one, is not valid",
        ),
    ];
    for (statement, kind, message) in cases {
        let error = database.error(statement);
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{statement}: {error:?}");
    }
}

#[test]
fn a_read_only_adapter_sends_no_write() {
    let server = Scripted::with(vec![Reply::Whole(200, "application/json", GOOD.to_owned())]);
    let reader = Database::open(Connection { read_only: true, ..settings(&server) });
    for (access, text) in [(Access::Write, "SELECT 1"), (Access::Read, "DELETE FROM t"), (Access::Read, "SELECT 1; DROP TABLE t")] {
        assert!(reader.run_with(&Query { access, ..query(text) }).is_err(), "{text}");
    }
    // A step that the build calls a write is one, whatever its words say.
    let step = BoundStep { name: "one", text: "SELECT 1".into(), parameters: Vec::new(), access: Access::Write, expect: None };
    let transaction = BoundTransaction { steps: &[step], result: None };
    let refused = Query { command: Command::Transaction(transaction), access: transaction.access(), ..query("") };
    assert!(reader.run_with(&refused).is_err());
    assert!(server.received().is_empty());
    assert_eq!(reader.run_with(&Query { access: Access::Read, ..query("SELECT v FROM t") }).unwrap().rows, [[Value::I64(7)]]);
}
