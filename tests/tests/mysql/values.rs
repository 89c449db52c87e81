//! Values in and out.

use millrace_core::{
    ErrorKind::{Data, TooLarge},
    Json,
    ports::{Command, Query},
    value::Value,
};
use millrace_tests::{
    database::{Database, query, text},
    mysql::Mysql,
};
use serde_json::json;

use crate::contract::{
    Site,
    mysql::SERVER,
    values::{
        a_value_means_what_it_would_mean_written_out as a_value_means, decimal, one, same, time,
        values_go_in_and_come_out_whole as values_go_in_and_come_out_whole_of,
    },
};

#[test]
fn values_go_in_and_come_out_whole() {
    values_go_in_and_come_out_whole_through(&Site::of(&SERVER).open(), Value::F64(16_777_216.0));
}

/// Values of every type. `float` is what becomes of 16777216 in a `FLOAT`: as text, it has six
/// digits.
pub fn values_go_in_and_come_out_whole_through(database: &Database, float: Value) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let every_character: String = (0..0x250).filter_map(char::from_u32).collect();
    let megabyte = "ż🙂\\'\"\0 ".repeat(100_000);
    let cases = [
        ("boolean", Value::Bool(true), Value::I64(1)),
        ("boolean", Value::Bool(false), Value::I64(0)),
        same("tinyint", Value::I64(-128)),
        same("tinyint unsigned", Value::I64(255)),
        same("smallint", Value::I64(-32768)),
        same("mediumint", Value::I64(-8_388_608)),
        same("mediumint unsigned", Value::I64(16_777_215)),
        same("int", Value::I64(-2_147_483_648)),
        same("int unsigned", Value::I64(4_294_967_295)),
        same("bigint", Value::I64((1 << 53) + 1)),
        same("bigint", Value::I64(i64::MIN)),
        same("bigint unsigned", Value::U64(u64::MAX)),
        ("decimal(20)", Value::U64(u64::MAX), decimal("18446744073709551615")),
        ("decimal(10,2)", Value::I64(5), decimal("5.00")),
        same("decimal(10,2)", decimal("1.50")),
        same("decimal(65,30)", decimal("-12345678901234567890.123456789012345678901234567890")),
        ("decimal(10,2)", Value::F64(0.1), decimal("0.10")),
        ("varchar(10)", Value::I64(5), text("5")),
        same("double", Value::F64(0.1)),
        same("double", Value::F64(1e300)),
        same("double", Value::F64(-0.0)),
        same("double", Value::F64(0.1 + 0.2)),
        same("double", Value::F64(9_007_199_254_740_993.0)),
        same("double", Value::F64(5e-324)),
        same("float", Value::F64(0.1)),
        ("float", Value::F64(16_777_216.0), float),
        ("double", Value::I64(3), Value::F64(3.0)),
        same("bit(1)", Value::I64(1)),
        same("bit(64)", Value::U64(u64::MAX)),
        same("year", Value::I64(2026)),
        same("longtext", text("")),
        same("longtext", text("o'neil; -- \\ \t\r\n\0")),
        same("longtext", text(&every_character)),
        same("longtext", text("zażółć 🙂 👩‍👩‍👧 \u{202e}")),
        same("longtext", text("null")),
        same("longtext", text(&megabyte)),
        same("varchar(3)", text("abc")),
        same("char(3)", text("ab")),
        same("enum('a','b')", text("b")),
        same("set('a','b','c')", text("a,c")),
        same("uuid", text("0a0b0c0d-0000-4000-8000-000000000001")),
        same("inet6", text("::1")),
        same("longblob", Value::Bytes(vec![])),
        same("longblob", Value::Bytes(every_byte.clone())),
        same("varbinary(300)", Value::Bytes(every_byte)),
        ("binary(3)", Value::Bytes(vec![1]), Value::Bytes(vec![1, 0, 0])),
        same("date", time("2026-01-02")),
        same("time", time("03:04:05")),
        same("time(6)", time("-838:59:58.123456")),
        same("datetime", time("2026-01-02T03:04:05")),
        same("datetime(6)", time("2026-01-02T03:04:05.123456")),
        ("datetime(3)", time("2026-01-02T00:00:00"), time("2026-01-02T00:00:00.000")),
        ("datetime(6)", time("2026-01-02T05:04:05.5+02:00"), time("2026-01-02T03:04:05.500000")),
        same("timestamp(6)", time("2026-01-02T03:04:05.123456Z")),
        ("timestamp", time("2026-01-02T05:04:05+02:00"), time("2026-01-02T03:04:05Z")),
        ("timestamp", text("2026-01-02 03:04:05"), time("2026-01-02T03:04:05Z")),
        same("json", Value::Json(json!({"a": [1, 2.5, "x\"y\\", null]}))),
        same("json", Value::Json(Json::from("a\"b"))),
        same("json", Value::Json(json!(null))),
        ("json", Value::Array(vec![Value::I64(1), text("'")]), Value::Json(json!([1, "'"]))),
        ("longtext", Value::Json(json!([1])), text("[1]")),
    ];
    values_go_in_and_come_out_whole_of(database, cases, "?", "'?' <> \"it's ?\"");
}

#[test]
fn a_value_means_what_it_would_mean_written_out() {
    a_value_means_what_it_would_mean_written_out_through(&Site::of(&SERVER).open());
}

pub fn a_value_means_what_it_would_mean_written_out_through(database: &Database) {
    let cases = vec![
        ("SELECT ?", vec![text("x")], text("x")),
        ("SELECT ?", vec![Value::I64(7)], Value::I64(7)),
        ("SELECT ?", vec![Value::I64(1 << 40)], Value::I64(1 << 40)),
        ("SELECT ?", vec![Value::U64(u64::MAX)], Value::U64(u64::MAX)),
        ("SELECT ?", vec![Value::Bool(true)], Value::I64(1)),
        ("SELECT ?", vec![Value::Null], Value::Null),
        ("SELECT ? + 1", vec![Value::I64(7)], Value::I64(8)),
        ("SELECT ? + 1", vec![decimal("1.50")], decimal("2.50")),
        ("SELECT ROUND(?, 1)", vec![Value::F64(1.25)], decimal("1.3")),
        ("SELECT ? = 0.1e0", vec![Value::F64(0.1)], Value::I64(1)),
        ("SELECT LEFT('abc', ?)", vec![Value::I64(2)], text("ab")),
        ("SELECT CAST(? AS DATE) + INTERVAL 1 DAY", vec![time("2026-01-01")], time("2026-01-02")),
        ("SELECT JSON_EXTRACT(?, '$.a') = 1", vec![Value::Json(json!({"a": 1}))], Value::I64(1)),
        ("SELECT v FROM (SELECT 1 v UNION SELECT 2) a ORDER BY v LIMIT ? OFFSET ?", vec![Value::I64(1), Value::I64(1)], Value::I64(2)),
        ("SELECT CONCAT(?, ?)", vec![text("a'"), text("\\b")], text("a'\\b")),
        ("SELECT HEX(?)", vec![Value::Bytes(vec![0, 255])], text("00FF")),
        ("SELECT ?", vec![Value::Bytes(vec![0, 255])], Value::Bytes(vec![0, 255])),
    ];
    a_value_means(database, cases);
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(database.run("SELECT ?", &[Value::F64(value)]).unwrap_err().kind, Data);
    }
}

#[test]
fn dates_that_are_none_stay_what_they_are() {
    let server = Mysql::start(&[]);
    server.run("shop", "SET sql_mode = ''; CREATE TABLE t (d date, m datetime, s timestamp NULL, t time); INSERT INTO t VALUES ('0000-00-00', '2026-05-00', '0000-00-00', '00:00');");
    let row = server.open().rows("SELECT * FROM t").remove(0);
    assert_eq!(row, [time("0000-00-00"), time("2026-05-00 00:00:00"), time("0000-00-00 00:00:00"), time("00:00:00")]);
    let error = server.open().error("INSERT INTO t (d) VALUES ('2026-02-31')");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (Data, "MySQL refused a value or the result of a computation: a text is not a date, a time or a number")
    );
}

#[test]
fn other_types_come_as_bytes_or_text() {
    let server = Mysql::start(&[]);
    let database = server.open();
    let Value::Bytes(point) = one(&database, "SELECT POINT(1, 2)", &[]) else { panic!("no bytes") };
    assert_eq!(point.len(), 25);
    assert_eq!(one(&database, "SELECT ST_AsText(POINT(1, 2))", &[]), text("POINT(1 2)"));
    assert_eq!(one(&database, "SELECT UNHEX('ff00')", &[]), Value::Bytes(vec![255, 0]));
    assert_eq!(one(&database, "SELECT JSON_OBJECT('a', 1)", &[]), Value::Json(json!({"a": 1})));
    assert_eq!(one(&database, "SELECT _latin1 X'e9'", &[]), text("é"));
}

/// Texts that are longer than a packet can be, both ways; and one that is longer than the server
/// takes.
#[test]
fn large_values_are_sent_in_parts() {
    let server = Mysql::start(&["--max-allowed-packet=64M"]);
    let database = server.open();
    for length in [(1 << 24) - 1 - 30, (1 << 24) + 5, 33 << 20] {
        let values = [text(&"é".repeat(length / 2))];
        let large = Query { command: Command::Statement { text: "SELECT ?", values: &values }, max_bytes: 64 << 20, ..query("") };
        let found = database.run_with(&large).unwrap();
        assert!(found.rows == [values.to_vec()], "{length}");
    }
    for length in [0xff_ffff - 1, 0xff_ffff, 0x100_0000] {
        let sql = format!("SELECT REPEAT('x', {length})");
        let found = database.run_with(&Query { max_bytes: 64 << 20, ..query(&sql) }).unwrap();
        assert!(matches!(&found.rows[0][0], Value::Text(text) if text.len() == length), "{length}");
    }
    let small = Mysql::start(&["--max-allowed-packet=1M"]);
    let database = small.open();
    let error = database.run("SELECT LENGTH(?)", &[text(&"x".repeat(2 << 20))]).unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (TooLarge, "the statement and its values are larger than MySQL accepts (`max_allowed_packet`)")
    );
    assert_eq!(one(&database, "SELECT 1", &[]), Value::I64(1));
}

#[test]
fn settings_of_the_server_change_nothing() {
    let server = Mysql::start(&[
        "--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT",
        "--default-time-zone=+05:30",
        "--character-set-server=latin1",
        "--collation-server=latin1_swedish_ci",
        "--skip-character-set-client-handshake",
        "--autocommit=0",
        "--max-statement-time=0.001",
    ]);
    let database = server.open();
    assert_eq!(one(&database, r#"SELECT "it's \"?\"" "#, &[]), text("it's \"?\""));
    assert_eq!(one(&database, r"SELECT 'it\'s'", &[]), text("it's"));
    assert_eq!(one(&database, "SELECT '🙂'", &[]), text("🙂"));
    assert_eq!(one(&database, "SELECT ?", &[text("🙂")]), text("🙂"));
    assert_eq!(one(&database, "SELECT FROM_UNIXTIME(0)", &[]), time("1970-01-01T00:00:00"));
    database.run("CREATE TABLE t (v int) ENGINE = InnoDB", &[]).unwrap();
    assert_eq!(database.run("INSERT INTO t VALUES (1)", &[]).unwrap().affected, 1);
    assert_eq!(one(&server.open(), "SELECT COUNT(*) FROM t", &[]), Value::I64(1), "it was committed");
    server.run("shop", "SET GLOBAL sql_select_limit = 1, GLOBAL completion_type = CHAIN, GLOBAL sql_auto_is_null = 1");
    let database = server.open();
    assert_eq!(database.rows("SELECT 1 UNION SELECT 2").len(), 2);
    assert_eq!(database.rows("SELECT @@completion_type, @@sql_auto_is_null"), [[text("NO_CHAIN"), Value::I64(0)]]);
}
