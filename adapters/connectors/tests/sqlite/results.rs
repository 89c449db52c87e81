//! What goes in and what comes out.

use std::{fs, path::Path};

use millrace_core::{
    Error, ErrorKind, Json,
    app::Access,
    ports::{Connection, Query},
    value::{Rows, Value},
};

use crate::support::{Isolate, connection, query, text};

#[test]
fn columns_keep_their_order_and_get_unique_names() {
    let isolate = Isolate::memory("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    for _ in 0..3 {
        let rows = isolate.run("SELECT name, id, 7 AS id, id AS id_2, name FROM t WHERE id > ?1", &[Value::I64(1)]).unwrap();
        assert_eq!(*rows.columns, ["name", "id", "id_2", "id_2_2", "name_2"].map(String::from));
        assert_eq!(rows.rows, [[text("b"), Value::I64(2), Value::I64(7), Value::I64(2), text("b")]]);
        assert_eq!(rows.affected, 0);
    }
}

/// Every value, bound, stored in a column without affinity and read back: what comes out, and as
/// which of SQLite's types.
#[test]
fn values_come_back_whole() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let same = |value: Value, kind: &'static str| (value.clone(), value, kind);
    let cases = [
        same(Value::Null, "null"),
        (Value::Bool(true), Value::I64(1), "integer"),
        (Value::Bool(false), Value::I64(0), "integer"),
        same(Value::I64(0), "integer"),
        same(Value::I64((1 << 53) + 1), "integer"),
        same(Value::I64(i64::MIN), "integer"),
        same(Value::I64(i64::MAX), "integer"),
        (Value::U64(7), Value::I64(7), "integer"),
        (Value::U64(i64::MAX as u64), Value::I64(i64::MAX), "integer"),
        (Value::U64(u64::MAX), text("18446744073709551615"), "text"),
        same(Value::F64(1.5), "real"),
        same(Value::F64(-0.0), "real"),
        same(Value::F64(f64::MIN_POSITIVE), "real"),
        same(Value::F64(f64::INFINITY), "real"),
        same(Value::F64(f64::NEG_INFINITY), "real"),
        (Value::F64(f64::NAN), Value::Null, "null"),
        (Value::Decimal("1.50".into()), text("1.50"), "text"),
        (Value::Decimal("-99999999999999999999999999.99".into()), text("-99999999999999999999999999.99"), "text"),
        same(text(""), "text"),
        same(text("a\0b"), "text"),
        same(text("\t\r\n"), "text"),
        same(text("zażółć 🙂 👩‍👩‍👧 \u{202e}"), "text"),
        same(Value::Bytes(vec![]), "blob"),
        same(Value::Bytes(every_byte), "blob"),
        (Value::Timestamp("2026-01-02T03:04:05.123456Z".into()), text("2026-01-02T03:04:05.123456Z"), "text"),
        (Value::Json(Json::from("a\"b")), text(r#""a\"b""#), "text"),
        (Value::Json(Json::Null), text("null"), "text"),
        (Value::Array(vec![]), text("[]"), "text"),
        (
            Value::Array(vec![
                Value::Null,
                Value::Bool(true),
                Value::I64((1 << 53) + 1),
                Value::U64(u64::MAX),
                Value::F64(0.5),
                Value::F64(f64::NAN),
                Value::Decimal("1.50".into()),
                text("o'neil"),
                Value::Bytes(vec![0xde, 0xad]),
                Value::Json(Json::from(1)),
                Value::Array(vec![Value::I64(i64::MIN)]),
            ]),
            text(r#"[null,true,9007199254740993,"18446744073709551615",0.5,null,"1.50","o'neil","3q0=",1,[-9223372036854775808]]"#),
            "text",
        ),
    ];
    let isolate = Isolate::memory("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    for (index, (value, expected, kind)) in cases.into_iter().enumerate() {
        let id = Value::I64(index as i64);
        let stored = isolate.run("INSERT INTO t VALUES (?1, ?2)", &[id.clone(), value.clone()]).unwrap();
        assert_eq!(stored, Rows { affected: 1, ..Rows::default() }, "{value:?}");
        let read = isolate.run("SELECT v, typeof(v), length(?2) FROM t WHERE id = ?1", &[id, value.clone()]).unwrap();
        assert_eq!(read.rows[0][..2], [expected, text(kind)], "{value:?}");
    }
}

#[test]
fn an_array_is_a_table_for_json_each() {
    let isolate = Isolate::memory("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1), (9007199254740993), (3)");
    let wanted = Value::Array(vec![Value::I64((1 << 53) + 1), Value::I64(4), Value::I64(1)]);
    let found = isolate.run("SELECT id FROM t WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id", &[wanted]).unwrap();
    assert_eq!(found.rows, [[Value::I64(1)], [Value::I64((1 << 53) + 1)]]);
}

#[test]
fn what_sqlite_calls_text_or_boolean_comes_as_it_is_stored() {
    let isolate = Isolate::memory("CREATE TABLE t (flag BOOLEAN, price NUMERIC); INSERT INTO t VALUES (true, '1.50')");
    assert_eq!(isolate.rows("SELECT flag, price FROM t"), [[Value::I64(1), Value::F64(1.5)]]);
    assert_eq!(isolate.rows("SELECT CAST(x'61ff' AS TEXT), CAST(x'6100' AS TEXT)"), [[Value::Bytes(vec![0x61, 0xff]), text("a\0")]]);
}

const HOSTILE: &[&str] = &[
    "'",
    "''",
    "\"",
    "`",
    "]",
    "o'neil; --",
    "' OR '1'='1",
    "'; DROP TABLE t; --",
    "\\'; DROP TABLE t; --",
    "1; DROP TABLE t",
    "/* */",
    "--",
    "?1",
    "?2",
    ":v",
    "@v",
    "$v",
    "%",
    "_",
    "{{ inputs.q }}",
    "\0'; DROP TABLE t; --",
    "\u{2019}\u{ff07}",
    "NULL",
    "x'00'",
    "0x10",
    "1e400",
    " 1 ",
];

/// Texts that break out of a statement where they are written into it: those above, and every text
/// of the workspace's table.
fn hostile_values() -> Vec<String> {
    let mut values: Vec<String> = HOSTILE.iter().map(|value| (*value).to_owned()).collect();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/hostile-values.json");
    if let Ok(table) = fs::read(table) {
        collect_texts(&serde_json::from_slice(&table).unwrap(), &mut values);
    }
    values
}

fn collect_texts(json: &Json, texts: &mut Vec<String>) {
    match json {
        Json::String(text) => texts.push(text.clone()),
        Json::Array(elements) => elements.iter().for_each(|element| collect_texts(element, texts)),
        Json::Object(members) => members.values().for_each(|member| collect_texts(member, texts)),
        _ => {}
    }
}

#[test]
fn hostile_values_stay_values() {
    let isolate = Isolate::memory("CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('bystander')");
    for value in hostile_values() {
        let value = value.as_str();
        isolate.run("INSERT INTO t VALUES (?1)", &[text(value)]).unwrap();
        let found = isolate.run("SELECT v FROM t WHERE v = ?1", &[text(value)]).unwrap();
        assert_eq!(found.rows, [[text(value)]]);
        assert_eq!(isolate.run("DELETE FROM t WHERE v = ?1", &[text(value)]).unwrap().affected, 1, "{value}");
    }
    assert_eq!(isolate.rows("SELECT v FROM t"), [[text("bystander")]]);
}

#[test]
fn affected_counts_the_rows_of_this_statement() {
    let isolate = Isolate::memory(
        "CREATE TABLE t (v UNIQUE); CREATE TABLE log (v); CREATE TRIGGER l AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.v); INSERT INTO log VALUES (new.v); END",
    );
    let cases = [
        ("INSERT INTO t VALUES (1), (2), (3)", 3),
        ("UPDATE t SET v = v + 10 WHERE v > 1", 2),
        ("UPDATE t SET v = 0 WHERE v = 99", 0),
        ("INSERT OR IGNORE INTO t VALUES (1), (4)", 1),
        ("CREATE TABLE other (v)", 0),
        ("CREATE INDEX by_v ON log (v)", 0),
        ("DELETE FROM log", 8),
        ("ALTER TABLE other ADD COLUMN w", 0),
        ("DROP TABLE other", 0),
        ("REINDEX", 0),
    ];
    for (statement, affected) in cases {
        let expected = Rows { affected, ..Rows::default() };
        assert_eq!(isolate.run(statement, &[]).unwrap(), expected, "{statement}");
    }
}

#[test]
fn returning_gives_rows_and_commits() {
    let folder = tempfile::tempdir().unwrap();
    let seeded = || Connection { seed: Some("CREATE TABLE t (id INTEGER PRIMARY KEY, v)".into()), ..connection("shop.db") };
    let (writer, reader) = (Isolate::new(folder.path(), seeded()), Isolate::new(folder.path(), seeded()));
    let rows = writer.run("INSERT INTO t (v) VALUES (?1), (?1) RETURNING id, v", &[text("x")]).unwrap();
    assert_eq!(*rows.columns, ["id", "v"].map(String::from));
    assert_eq!(rows.rows, [[Value::I64(1), text("x")], [Value::I64(2), text("x")]]);
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(2)]]);

    // Rows that nobody would see are not written either.
    let limited = Query { max_rows: 1, ..query("UPDATE t SET v = 'lost' RETURNING id") };
    assert_eq!(writer.run_with(&limited).unwrap_err().kind, ErrorKind::TooLarge);
    assert_eq!(reader.rows("SELECT DISTINCT v FROM t"), [[text("x")]]);
    assert_eq!(writer.run("DELETE FROM t RETURNING id", &[]).unwrap().rows.len(), 2);
    assert_eq!(reader.rows("SELECT count(*) FROM t"), [[Value::I64(0)]]);
}

#[test]
fn a_result_that_is_too_large_is_refused() {
    let isolate = Isolate::memory("CREATE TABLE t (v); INSERT INTO t VALUES ('four'), ('more'), (1)");
    let limits =
        |max_rows, max_bytes| isolate.run_with(&Query { max_rows, max_bytes, ..query("SELECT v FROM t") }).map(|rows| rows.rows.len());
    let too_large = |message: &str| Err(Error::new(ErrorKind::TooLarge, message));
    assert_eq!(limits(3, 16), Ok(3));
    assert_eq!(limits(2, 16), too_large("the result has more than `max_rows`, 2 rows"));
    assert_eq!(limits(0, 16), too_large("the result has more than `max_rows`, 0 rows"));
    assert_eq!(limits(3, 15), too_large("the result has more than 15 bytes"));
    // One value that would fill the memory on its own.
    for statement in ["SELECT length(zeroblob(900000000) || '')", "SELECT hex(randomblob(900000000))"] {
        assert_eq!(isolate.error(statement).kind, ErrorKind::Data, "{statement}");
    }
}

#[test]
fn a_statement_that_does_not_end_is_stopped_at_the_deadline() {
    const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    let isolate = Isolate::memory("CREATE TABLE t (v); INSERT INTO t VALUES (1)");
    isolate.clock.tick_ms.set(1);
    for statement in [
        format!("{ENDLESS} SELECT count(*) FROM n"),
        format!("{ENDLESS} INSERT INTO t SELECT i FROM n WHERE i > 1"),
        format!("{ENDLESS} UPDATE t SET v = (SELECT max(i) FROM n) RETURNING v"),
    ] {
        assert_eq!(isolate.error(&statement), timed_out().with_source("interrupted"), "{statement}");
        assert_eq!(isolate.rows("SELECT v FROM t"), [[Value::I64(1)]], "nothing of it stays: {statement}");
    }
    isolate.clock.tick_ms.set(0);
    let late = Query { deadline_ms: 0, ..query("INSERT INTO t VALUES (2)") };
    assert_eq!(isolate.run_with(&late).unwrap_err(), timed_out());
    assert_eq!(isolate.rows("SELECT v FROM t"), [[Value::I64(1)]], "past the deadline nothing starts");
}

fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "the statement ran past its deadline")
}

#[test]
fn a_cached_statement_survives_errors_and_changes_of_the_schema() {
    let isolate = Isolate::memory("CREATE TABLE t (id INTEGER PRIMARY KEY, v NOT NULL)");
    let insert = |id: i64, v: Value| isolate.run("INSERT INTO t VALUES (?1, ?2)", &[Value::I64(id), v]);
    insert(1, text("a")).unwrap();
    assert_eq!(insert(1, text("b")).unwrap_err().kind, ErrorKind::Constraint);
    assert_eq!(insert(2, Value::Null).unwrap_err().kind, ErrorKind::Constraint);
    assert_eq!(insert(2, text("b")).unwrap().affected, 1);

    let all = || isolate.run("SELECT * FROM t WHERE id = 1", &[]).unwrap();
    assert_eq!(*all().columns, ["id", "v"].map(String::from));
    isolate.run("ALTER TABLE t ADD COLUMN w DEFAULT 7", &[]).unwrap();
    assert_eq!(*all().columns, ["id", "v", "w"].map(String::from));
    assert_eq!(all().rows, [[Value::I64(1), text("a"), Value::I64(7)]]);
    isolate.run("ALTER TABLE t RENAME COLUMN w TO x", &[]).unwrap();
    assert_eq!(*all().columns, ["id", "v", "x"].map(String::from));
    isolate.run("DROP TABLE t", &[]).unwrap();
    assert_eq!(isolate.error("SELECT * FROM t WHERE id = 1").kind, ErrorKind::Syntax);
    isolate.run("CREATE TABLE t (id)", &[]).unwrap();
    assert_eq!(*all().columns, ["id"].map(String::from));
    assert!(all().rows.is_empty());
}

#[test]
fn a_small_statement_cache_changes_no_answer() {
    let options = vec![("statement_cache".to_owned(), millrace_core::secret::Secret::new("0".to_owned()))];
    let isolate = Isolate::new(Path::new("/"), Connection { options, ..connection(":memory:") });
    for count in 0..20_i64 {
        let rows = isolate.run(&format!("SELECT ?1 AS v{}", count % 3), &[Value::I64(count)]).unwrap();
        assert_eq!((rows.columns[0].as_str(), &rows.rows), (format!("v{}", count % 3).as_str(), &vec![vec![Value::I64(count)]]));
    }
}

#[test]
fn a_statement_may_write_whatever_the_build_believed() {
    let isolate = Isolate::memory("CREATE TABLE t (v)");
    let claimed = Query { access: Access::Read, ..query("INSERT INTO t VALUES (1)") };
    assert_eq!(isolate.run_with(&claimed).unwrap().affected, 1);
}
