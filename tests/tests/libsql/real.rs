//! What goes in and what comes out of a real server.

use millrace_core::{
    Error,
    ErrorKind::{self, Constraint, Data, Denied, Syntax, TooLarge},
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

/// Every value, bound, stored in a column without affinity and read back: what comes out, and as which of SQLite's types.
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
fn affected_counts_the_rows_of_this_statement_and_returning_gives_rows() {
    let (_server, database) = shop();
    let cases = [
        ("CREATE TABLE t (id INTEGER PRIMARY KEY, v UNIQUE)", 0),
        ("INSERT INTO t (v) VALUES (1), (2), (3)", 3),
        ("UPDATE t SET v = v + 10 WHERE v > 1", 2),
        ("UPDATE t SET v = 0 WHERE v = 99", 0),
        ("INSERT OR IGNORE INTO t (v) VALUES (1), (4)", 1),
        ("WITH gone AS (SELECT 4 AS v) DELETE FROM t WHERE v IN (SELECT v FROM gone)", 1),
        ("ALTER TABLE t ADD COLUMN w", 0),
        ("CREATE TRIGGER keep AFTER INSERT ON t BEGIN UPDATE t SET w = 1; SELECT CASE WHEN 1 THEN 2 END; END", 0),
    ];
    for (statement, affected) in cases {
        assert_eq!(database.run(statement, &[]).unwrap(), Rows { affected, ..Rows::default() }, "{statement}");
    }
    let rows = database.run("INSERT INTO t (v) VALUES (?1), (?2) RETURNING id, v", &[text("x"), text("y")]).unwrap();
    assert_eq!(*rows.columns, ["id", "v"].map(String::from));
    assert_eq!(rows.rows.iter().map(|row| row[1].clone()).collect::<Vec<_>>(), [text("x"), text("y")]);
    let none = database.run("SELECT id FROM t WHERE id < 0", &[]).unwrap();
    assert_eq!((none.columns.len(), none.rows.len()), (1, 0));
    let limited = Query { max_rows: 1, ..query("UPDATE t SET v = id RETURNING id") };
    let message = "the result has more than `max_rows`, 1 rows; the statement took effect";
    assert_eq!(database.run_with(&limited).unwrap_err(), Error::new(TooLarge, message));
}

#[test]
fn a_wrong_statement_or_value_is_told_without_its_values() {
    let (_server, database) = shop();
    for statement in [
        "CREATE TABLE parent (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT NOT NULL, age INT CONSTRAINT grown_up CHECK (age >= 18))",
        "CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INT REFERENCES parent (id)) STRICT",
        "CREATE TRIGGER no_secret BEFORE INSERT ON parent WHEN new.name = 'secret' BEGIN SELECT RAISE(ABORT, 'the value secret is taken'); END",
        "INSERT INTO parent VALUES (1, 'a@example.com', 'Ada', 36)",
    ] {
        database.run(statement, &[]).unwrap();
    }
    let cases = [
        ("", Syntax, "the query contains no statement"),
        ("-- nothing", Syntax, "the query contains no statement"),
        ("SELECT 1; SELECT 2", Syntax, "the query contains more than one statement"),
        ("SELECT 1\0", Syntax, "the statement contains a NUL character"),
        ("SELEC 1", Syntax, "SQLite does not understand the statement"),
        ("SELECT 'open", Syntax, "SQLite does not understand the statement"),
        ("SELECT * FROM nowhere", Syntax, "SQLite does not understand the statement"),
        ("SELECT absent FROM parent", Syntax, "SQLite does not understand the statement at byte 7"),
        ("SELECT ?1", Syntax, "the statement expects a different number of values"),
        ("SELECT abs(-9223372036854775807 - 1)", Data, "SQLite refused a value or the result of a computation: a number is out of range"),
        (
            "SELECT json_extract('{secret', '$')",
            Data,
            "SQLite refused a value or the result of a computation: a JSON document, or a path into one, is not valid",
        ),
        (
            "INSERT INTO parent (email, name) VALUES ('a@example.com', 'B')",
            Constraint,
            "a UNIQUE constraint refused the change: `parent.email`",
        ),
        ("INSERT INTO parent (name) VALUES (NULL)", Constraint, "a NOT NULL constraint refused the change: `parent.name`"),
        ("INSERT INTO parent (name, age) VALUES ('b', 17)", Constraint, "a CHECK constraint refused the change: `grown_up`"),
        ("INSERT INTO child VALUES (1, 99)", Constraint, "a FOREIGN KEY constraint refused the change"),
        ("INSERT INTO child VALUES (1, 'secret')", Data, "a value does not have the type of its column"),
        ("INSERT INTO parent (id, name) VALUES ('x', 'B')", Data, "a value does not have the type of its column"),
        ("INSERT INTO parent (name) VALUES ('secret')", Constraint, "a constraint of the database refused the change"),
        ("SELECT zeroblob(20000000)", Data, "a text or blob is longer than the server allows"),
    ];
    for (statement, kind, message) in cases {
        let error = database.error(statement);
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{statement}: {error:?}");
    }
    let surplus = database.run("SELECT ?1", &[Value::Null, Value::Null]).unwrap_err();
    assert_eq!(surplus.kind, Syntax);
    assert_eq!(database.rows("SELECT count(*) FROM parent"), [[Value::I64(1)]]);
    assert_eq!(database.rows("PRAGMA table_info(child)").len(), 2);
}

#[test]
fn a_result_that_is_too_large_is_refused() {
    const NUMBERS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)";
    let (_server, database) = shop();
    let limited = |max_rows, max_bytes| {
        let query = Query { max_rows, max_bytes, ..query("SELECT 'four' UNION ALL SELECT 'more' UNION ALL SELECT 1") };
        database.run_with(&query).map(|rows| rows.rows.len())
    };
    assert_eq!(limited(3, 16), Ok(3));
    assert_eq!(limited(2, 16), Err(Error::new(TooLarge, "the result has more than `max_rows`, 2 rows")));
    assert_eq!(limited(3, 15), Err(Error::new(TooLarge, "the result has more than 15 bytes")));
    let cut = |max_rows| database.cut(&query("SELECT 'four' UNION ALL SELECT 'more' UNION ALL SELECT 1"), max_rows);
    assert_eq!([cut(4), cut(3), cut(2), cut(1)], [Ok((3, false)), Ok((3, false)), Ok((2, true)), Ok((1, true))]);
    let huge = database.error(&format!("{NUMBERS} SELECT i, 'abcdefghijklmnopqrstuvwxyz' FROM n"));
    assert_eq!((huge.kind, huge.message.as_str()), (TooLarge, "the result is larger than the libSQL server allows"));
    let body = Query { max_bytes: 8, ..query("SELECT hex(randomblob(2000000))") };
    assert_eq!(database.run_with(&body).unwrap_err().kind, TooLarge, "the client stops reading");
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
        read("EXPLAIN SELECT 1; DROP TABLE t").map_err(|error| Error { kind: Denied, ..error }),
        reader.run("SELECT 1", &[]),
    ] {
        assert_eq!(outcome.unwrap_err().kind, Denied);
    }
    assert_eq!(read("SELECT count(*) FROM t").unwrap().rows, [[Value::I64(0)]]);
}
