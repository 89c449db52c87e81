//! What comes out of ClickHouse's types, and what goes into them.

use millrace_core::{ErrorKind::Data, value::Value};
use millrace_tests::{
    clickhouse::{self, open},
    database::{runtime, text},
    shown::shown,
};
use serde_json::json;

use crate::in_process::{call, endpoint, text as result_text};

#[test]
fn cells_of_every_type() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    let moment = |text: &str| Value::Timestamp(text.into());
    let decimal = |text: &str| Value::Decimal(text.into());
    for (expression, expected) in [
        ("9007199254740993::Int64", Value::I64(9_007_199_254_740_993)),
        ("-9223372036854775808::Int64", Value::I64(i64::MIN)),
        ("18446744073709551615::UInt64", Value::U64(u64::MAX)),
        ("toInt128('-170141183460469231731687303715884105728')", decimal("-170141183460469231731687303715884105728")),
        ("toUInt256('7')", Value::I64(7)),
        ("1.5::Decimal(10, 2)", decimal("1.50")),
        ("toDecimal256('-0.1', 40)", decimal("-0.1000000000000000000000000000000000000000")),
        ("0.1::Float32", Value::F64(0.1)),
        ("1::Float64", Value::F64(1.0)),
        ("1e300", Value::F64(1e300)),
        ("nan", Value::Null),
        ("-inf", Value::Null),
        ("true", Value::Bool(true)),
        ("NULL::Nullable(Int8)", Value::Null),
        ("''", text("")),
        ("'it''s \\\\ \\t \\n 😀'", text("it's \\ \t \n 😀")),
        ("toFixedString('ab', 4)", text("ab\0\0")),
        ("'a\\xff'", Value::Bytes(vec![b'a', 0xff])),
        ("toLowCardinality('x')", text("x")),
        ("'b'::Enum8('a' = 1, 'b' = 2)", text("b")),
        ("toUUID('00112233-4455-6677-8899-aabbccddeeff')", text("00112233-4455-6677-8899-aabbccddeeff")),
        ("toIPv4('1.2.3.4')", text("1.2.3.4")),
        ("toIPv6('::1')", text("::1")),
        ("toDate('2026-01-02')", moment("2026-01-02")),
        ("toDate32('1900-01-01')", moment("1900-01-01")),
        ("toDateTime('2026-01-02 03:04:05', 'Europe/Berlin')", moment("2026-01-02T02:04:05Z")),
        ("toDateTime64('2026-01-02 03:04:05.123456', 6, 'UTC')", moment("2026-01-02T03:04:05.123456Z")),
        ("toTime64('10:00:00.5', 3)", moment("10:00:00.500")),
        ("INTERVAL 3 DAY", Value::I64(3)),
        ("[1, NULL]::Array(Nullable(UInt64))", Value::Array(vec![Value::I64(1), Value::Null])),
        ("[[1.50]]::Array(Array(Decimal(9, 2)))", Value::Array(vec![Value::Array(vec![decimal("1.50")])])),
        ("[toDateTime64('2026-01-02 03:04:05', 0, 'UTC')]", Value::Array(vec![moment("2026-01-02T03:04:05Z")])),
        ("tuple(1, 'x')", Value::Array(vec![Value::I64(1), text("x")])),
        ("tuple(1, 'x')::Tuple(a Int8, b String)", Value::Json(json!({"a": 1, "b": "x"}))),
        ("map('a', 1, 'b', 18446744073709551615::UInt64)", Value::Json(json!({"a": 1, "b": "18446744073709551615"}))),
        (r#"'{"a": {"b": 42}, "c": [1, "x"]}'::JSON"#, Value::Json(json!({"a": {"b": 42}, "c": [1, "x"]}))),
        ("5::Variant(Int64, String)", Value::I64(5)),
        ("'x'::Dynamic", text("x")),
        ("(1, 2)::Point", Value::Array(vec![Value::F64(1.0), Value::F64(2.0)])),
    ] {
        let rows = database.run(&format!("SELECT {expression} AS v"), &[]).unwrap_or_else(|error| panic!("{expression}: {error:?}"));
        assert_eq!(rows.rows, [[expected]], "{expression}");
    }
}

#[test]
fn a_number_that_its_type_does_not_have_is_never_another_number() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    for (kind, value, shown) in [
        ("Int64", Value::I64(i64::MIN), "-9223372036854775808"),
        ("UInt64", Value::U64(u64::MAX), "18446744073709551615"),
        ("Int256", Value::Decimal("-170141183460469231731687303715884105729".into()), "-170141183460469231731687303715884105729"),
        ("Float64", Value::F64(0.1), "0.1"),
        ("Float64", Value::F64(5e-324), "5e-324"),
        ("Decimal(38, 2)", Value::Decimal("1.50".into()), "1.5"),
        ("Bool", Value::Bool(true), "true"),
        ("Nullable(Date32)", Value::Null, "\\N"),
        ("Date32", Value::Timestamp("2299-12-31".into()), "2299-12-31"),
        ("DateTime64(6, 'UTC')", Value::Timestamp("1900-01-01T01:00:00.000001+01:00".into()), "1900-01-01 00:00:00.000001"),
        ("UUID", text("00112233-4455-6677-8899-aabbccddeeff"), "00112233-4455-6677-8899-aabbccddeeff"),
        ("Array(Nullable(Int64))", Value::Array(vec![Value::I64(1), Value::Null]), "[1,NULL]"),
        ("Array(Bool)", Value::Json(json!([true, false])), "[true,false]"),
        ("Array(Array(String))", Value::Json(json!([["a'", "\\"], []])), r"[['a\'','\\'],[]]"),
        ("Array(UUID)", Value::Array(vec![text("00112233-4455-6677-8899-aabbccddeeff")]), "['00112233-4455-6677-8899-aabbccddeeff']"),
        ("Array(Int64)", Value::Array(vec![]), "[]"),
    ] {
        let statement = format!("SELECT ifNull(toString({{p1:{kind}}}), '\\\\N') AS v");
        let rows = database.run(&statement, std::slice::from_ref(&value)).unwrap_or_else(|error| panic!("{kind} {value:?}: {error:?}"));
        assert_eq!(rows.rows, [[text(shown)]], "{kind} {value:?}");
    }
    // The engine itself takes them for 44, for -9223372036854775808, for an empty text.
    for (kind, value) in [
        ("Int8", Value::I64(300)),
        ("Int64", Value::U64(1 << 63)),
        ("Array(Int64)", Value::Array(vec![Value::U64(1 << 63)])),
        ("String", Value::Null),
        ("UInt8", Value::I64(-1)),
        ("Int64", Value::F64(1.5)),
        ("Int64", text("1 OR 1")),
        ("UUID", text("x")),
        ("Date32", text("x")),
        ("DateTime64(6, 'UTC')", Value::Timestamp("2300-01-01T00:00:00Z".into())),
    ] {
        let error = database.run(&format!("SELECT {{p1:{kind}}} AS v"), std::slice::from_ref(&value)).unwrap_err();
        assert_eq!(error.kind, Data, "{kind} {value:?}: {error:?}");
    }
}

#[test]
fn literals_are_read_as_the_engine_reads_them() {
    let server = clickhouse::start(&[]);
    let database = open(&server);
    let adapter = format!("connector: clickhouse\nconnection_string: {}\n", clickhouse::url(&server));
    // A literal with a placeholder is put together by the build; the same literal without one is
    // the engine's to read.
    let bodies = [r"\%\_\d\w", r"\a\b\e\f\n\r\t\v\0", r#"\\ \' \" \` \/ '' ""#, r"\x41\x7f", r"\q\=\+ é", "`\"$a$"];
    let statements: Vec<String> = bodies.iter().map(|body| format!("SELECT '{body}{{{{ inputs.s }}}}' AS v")).collect();
    let inputs = "inputs: { s: { type: string } }\n";
    let names: Vec<String> = (0..bodies.len()).map(|number| format!("t{number}")).collect();
    let tools: Vec<_> = names.iter().zip(&statements).map(|(name, statement)| (name.as_str(), statement.as_str(), inputs)).collect();
    let (endpoint, _folder) = endpoint(&adapter, &tools);
    let expected = bodies.map(|body| database.run(&format!("SELECT '{body}!' AS v"), &[]).unwrap());
    tokio::task::LocalSet::new().block_on(&runtime(), async {
        for ((name, body), expected) in names.iter().zip(bodies).zip(expected) {
            let result = call(&endpoint, name, json!({"s": "!"})).await;
            assert_eq!(result_text(&result), shown(serde_json::to_value(expected.json()).unwrap()).to_string(), "{body}");
        }
    });
}
