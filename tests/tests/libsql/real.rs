//! What goes in and what comes out of a real server.

use millrace_core::{
    ErrorKind::{self, Data, Denied},
    Json,
    app::Access,
    ports::{Connection, Query},
    value::{Rows, Value},
};
use millrace_tests::{
    database::{Database, connection, query, text},
    sqld::Sqld,
};

/// A server, and a connection to it.
fn shop() -> (Sqld, Database) {
    let server = Sqld::start(None);
    let database = Database::open(connection("libsql", &format!("libsql://127.0.0.1:{}?tls=0", server.port), &[]));
    (server, database)
}

#[test]
fn columns_keep_their_order_and_get_unique_names() {
    let (_server, database) = shop();
    database.ping().unwrap();
    let rows = database.run("SELECT 'b' AS name, ?2 AS id, 7 AS id, ?1 AS id_2", &[Value::I64(1), Value::I64(2)]).unwrap();
    assert_eq!(*rows.columns, ["name", "id", "id_2", "id_2_2"].map(String::from));
    assert_eq!(rows.rows, [[text("b"), Value::I64(2), Value::I64(7), Value::I64(1)]]);
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
        (Value::U64(u64::MAX), text("18446744073709551615"), "text"),
        same(Value::F64(1.5), "real"),
        same(Value::F64(1.0), "real"),
        same(Value::F64(-0.0), "real"),
        same(Value::F64(0.1), "real"),
        same(Value::F64(f64::MIN_POSITIVE), "real"),
        same(Value::F64(f64::MAX), "real"),
        same(Value::F64(5e-324), "real"),
        (Value::F64(f64::NAN), Value::Null, "null"),
        (Value::Decimal("1.50".into()), text("1.50"), "text"),
        same(text(""), "text"),
        same(text("a\0b"), "text"),
        same(text("o'neil; -- \\ \t\r\n"), "text"),
        same(text("zażółć 🙂 👩‍👩‍👧 \u{202e}"), "text"),
        same(Value::Bytes(vec![]), "blob"),
        same(Value::Bytes(vec![0xde]), "blob"),
        same(Value::Bytes(every_byte), "blob"),
        (Value::Timestamp("2026-01-02T03:04:05.123456Z".into()), text("2026-01-02T03:04:05.123456Z"), "text"),
        (Value::Json(Json::from("a\"b")), text(r#""a\"b""#), "text"),
        (
            Value::Array(vec![Value::Null, Value::I64((1 << 53) + 1), Value::F64(0.5), text("o'neil")]),
            text(r#"[null,9007199254740993,0.5,"o'neil"]"#),
            "text",
        ),
    ];
    let (_server, database) = shop();
    database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v)", &[]).unwrap();
    for (index, (value, expected, kind)) in cases.into_iter().enumerate() {
        let id = Value::I64(index as i64);
        let stored = database.run("INSERT INTO t VALUES (?1, ?2)", &[id.clone(), value.clone()]).unwrap();
        assert_eq!(stored, Rows { affected: 1, ..Rows::default() }, "{value:?}");
        let read = database.run("SELECT v, typeof(v), length(?2) FROM t WHERE id = ?1", &[id, value.clone()]).unwrap();
        assert_eq!(read.rows[0][..2], [expected, text(kind)], "{value:?}");
    }
    let infinity = database.run("SELECT ?1", &[Value::F64(f64::INFINITY)]).unwrap_err();
    assert_eq!((infinity.kind, infinity.message.as_str()), (Data, "an infinite number cannot be sent to a libSQL server"));
    assert_eq!(database.rows("SELECT 1e999"), [[Value::Null]]);
    let not_utf8 = database.error("SELECT CAST(x'61ff' AS TEXT)");
    assert_eq!(not_utf8.kind, ErrorKind::Protocol);
    assert!(not_utf8.message.contains("not UTF-8"), "{not_utf8:?}");
}

#[test]
fn hostile_values_stay_values() {
    let values: Vec<String> = serde_json::from_str(include_str!("../../data/hostile-values.json")).unwrap();
    assert!(values.len() > 100);
    let (_server, database) = shop();
    database.run("CREATE TABLE t (v TEXT)", &[]).unwrap();
    database.run("INSERT INTO t VALUES ('bystander')", &[]).unwrap();
    for value in &values {
        database.run("INSERT INTO t VALUES (?1)", &[text(value)]).unwrap();
        assert_eq!(database.run("SELECT v FROM t WHERE v = ?1", &[text(value)]).unwrap().rows, [[text(value)]]);
        assert_eq!(database.run("DELETE FROM t WHERE v = ?1", &[text(value)]).unwrap().affected, 1, "{value}");
    }
    assert_eq!(database.rows("SELECT v FROM t"), [[text("bystander")]]);
}

#[test]
fn a_read_only_adapter_reads() {
    let (server, database) = shop();
    database.run("CREATE TABLE t (v)", &[]).unwrap();
    let address = format!("http://127.0.0.1:{}", server.port);
    let reader = Database::open(Connection { read_only: true, ..connection("libsql", &address, &[]) });
    let read = |text| reader.run_with(&Query { access: Access::Read, ..query(text) });
    assert_eq!(read("SELECT count(*) FROM t").unwrap().rows, [[Value::I64(0)]]);
    assert_eq!(read("WITH a AS (SELECT 1 AS i) SELECT i FROM a").unwrap().rows, [[Value::I64(1)]]);
    // What is said to read may write, and what is said to write is refused whatever it does.
    for outcome in [
        read("INSERT INTO t VALUES (1)"),
        read("WITH a AS (SELECT 1 AS i) INSERT INTO t SELECT i FROM a"),
        read("/* SELECT */ DROP TABLE t"),
        read("EXPLAIN SELECT 1; DROP TABLE t").map_err(|error| error.with_kind(Denied)),
        reader.run("SELECT 1", &[]),
    ] {
        assert_eq!(outcome.unwrap_err().kind, Denied);
    }
    assert_eq!(read("SELECT count(*) FROM t").unwrap().rows, [[Value::I64(0)]]);
}
