//! Requests as bytes, and answers of a real server.

use millrace_core::{Json, ports::Command};
use serde_json::json;

use super::*;
use crate::shared::Execution;

fn query<'a>(text: &'a str, values: &'a [Value]) -> Query<'a> {
    Query::reading(Command::Statement { text, values }, 7, 10, 100)
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

#[test]
fn a_request_holds_one_statement_and_closes_its_stream() {
    let token = Secret::new("a.b".to_owned());
    let params = [Value::I64((1 << 53) + 1), text("o'neil; --")];
    let request = prepare("https://shop/ns", Some(&token), Version::V3, &query("SELECT ?1, ?2", &params)).unwrap();
    assert_eq!((request.method.as_str(), request.url.as_str(), request.deadline_ms), ("POST", "https://shop/ns/v3/pipeline", 7));
    assert_eq!(request.headers.first("authorization"), Some("Bearer a.b"));
    let body = r#"{"baton":null,"requests":[{"type":"execute","stmt":{"sql":"SELECT ?1, ?2","args":[{"type":"integer","value":"9007199254740993"},{"type":"text","value":"o'neil; --"}],"want_rows":true}},{"type":"close"}]}"#;
    assert_eq!(String::from_utf8(request.body).unwrap(), body);

    let request = prepare("http://shop", None, Version::V2, &query("SELECT 1", &[])).unwrap();
    assert_eq!((request.url.as_str(), request.headers.first("authorization")), ("http://shop/v2/pipeline", None));
}

#[test]
fn every_value_has_its_form() {
    let table = [
        (Value::Null, json!({"type": "null"})),
        (Value::Bool(true), json!({"type": "integer", "value": "1"})),
        (Value::I64(i64::MIN), json!({"type": "integer", "value": "-9223372036854775808"})),
        (Value::U64(7), json!({"type": "integer", "value": "7"})),
        (Value::U64(u64::MAX), json!({"type": "text", "value": "18446744073709551615"})),
        (Value::F64(1.0), json!({"type": "float", "value": 1.0})),
        (Value::F64(f64::NAN), json!({"type": "null"})),
        (Value::Decimal("1.50".into()), json!({"type": "text", "value": "1.50"})),
        (text("a\0b"), json!({"type": "text", "value": "a\0b"})),
        (Value::Bytes(vec![0xde, 0xad, 0xbe, 0xef]), json!({"type": "blob", "base64": "3q2+7w"})),
        (Value::Bytes(vec![]), json!({"type": "blob", "base64": ""})),
        (Value::Json(json!({"a": [1]})), json!({"type": "text", "value": "{\"a\":[1]}"})),
        (Value::Timestamp("2026-01-02".into()), json!({"type": "text", "value": "2026-01-02"})),
        (Value::Array(vec![Value::I64(1), text("x")]), json!({"type": "text", "value": "[1,\"x\"]"})),
    ];
    for (value, expected) in table {
        assert_eq!(serde_json::to_value(Argument::of(&value).unwrap()).unwrap(), expected, "{value:?}");
    }
    for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Argument::of(&Value::F64(infinity)).unwrap_err().kind, ErrorKind::Data);
    }
}

fn answer(body: &str) -> Result<Rows, StatementFailure> {
    parse(&HttpResponse { status: 200, headers: Headers::new(), body: body.as_bytes().to_vec() }, "SELECT 1")
}

fn one_cell(cell: &str) -> Result<Value, Execution> {
    let body = format!(
        r#"{{"results":[{{"type":"ok","response":{{"type":"execute","result":{{"cols":[{{"name":"v"}}],"rows":[[{cell}]],"affected_row_count":0}}}}}}]}}"#
    );
    answer(&body).map(|rows| rows.rows[0][0].clone()).map_err(|failure| failure.outcome)
}

#[test]
fn cells_of_every_shape() {
    let table = [
        (r#"{"type":"integer","value":"-9223372036854775808"}"#, Ok(Value::I64(i64::MIN))),
        (r#"{"value":7,"type":"integer"}"#, Ok(Value::I64(7))),
        (r#"{"type":"float","value":-0.0}"#, Ok(Value::F64(-0.0))),
        (r#"{"type":"float","value":2}"#, Ok(Value::F64(2.0))),
        (r#"{"type":"float","value":18446744073709551615}"#, Ok(Value::F64(18_446_744_073_709_551_615.0))),
        (r#"{"type":"float","value":null}"#, Ok(Value::Null)),
        (r#"{"type":"text","value":"a\"\u0000\ud83d\ude00"}"#, Ok(text("a\"\0😀"))),
        (r#"{"type":"blob","base64":"3q2+7w"}"#, Ok(Value::Bytes(vec![0xde, 0xad, 0xbe, 0xef]))),
        (r#"{"base64":"3q2+7w==","type":"blob","new":[{}]}"#, Ok(Value::Bytes(vec![0xde, 0xad, 0xbe, 0xef]))),
        (r#"{"type":"null"}"#, Ok(Value::Null)),
        (r#"{"type":"integer","value":"9223372036854775808"}"#, Err(Execution::Unknown)),
        (r#"{"type":"integer","value":"1.5"}"#, Err(Execution::Unknown)),
        (r#"{"type":"integer"}"#, Err(Execution::Unknown)),
        (r#"{"type":"text","value":1}"#, Err(Execution::Unknown)),
        (r#"{"type":"text","value":"\ud83d"}"#, Err(Execution::Unknown)),
        (r#"{"type":"blob","base64":"***"}"#, Err(Execution::Unknown)),
        (r#"{"type":"decimal","value":"1"}"#, Err(Execution::Unknown)),
        (r#"{"value":"1"}"#, Err(Execution::Unknown)),
        ("7", Err(Execution::Unknown)),
    ];
    for (cell, expected) in table {
        assert_eq!(one_cell(cell), expected, "{cell}");
    }
}

/// Recorded from sqld 0.24.33, several results each.
const RECORDED: &str = include_str!("../../../tests/data/hrana-answers.txt");

/// The results of a recorded answer, each as an answer of its own.
fn recorded(line: usize) -> Vec<String> {
    let answer: Json = serde_json::from_str(RECORDED.lines().nth(line).unwrap()).unwrap();
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|result| json!({"baton": null, "base_url": null, "results": [result]}).to_string()).collect()
}

#[test]
fn recorded_rows() {
    let values = answer(&recorded(0)[0]).unwrap();
    assert_eq!(*values.columns, ["i", "f", "s", "b", "n"].map(String::from));
    let cells =
        [Value::I64(9_007_199_254_740_993), Value::F64(1.5), text("o'neil; --"), Value::Bytes(vec![0xde, 0xad, 0xbe, 0xef]), Value::Null];
    assert_eq!(values.rows, [cells]);
    let numbered = answer(&recorded(2)[0]).unwrap();
    assert_eq!((&*numbered.columns, numbered.rows), (&["?2", "?1"].map(String::from)[..], vec![vec![Value::I64(2), Value::I64(1)]]));
    let returned = answer(&recorded(4)[1]).unwrap();
    assert_eq!((&*returned.columns, returned.rows, returned.affected), (&["id".to_owned()][..], vec![vec![Value::I64(1)]], 0));
}

#[test]
fn recorded_errors() {
    use ErrorKind::{Constraint, Syntax};
    let kinds: Vec<_> =
        recorded(3).iter().filter_map(|line| answer(line).err()).map(|failure| (failure.error.kind, failure.outcome)).collect();
    // The last is the answer to `close`, which holds no result.
    assert_eq!(kinds, [[(Syntax, Execution::Final); 6].as_slice(), &[(ErrorKind::Protocol, Execution::Unknown)]].concat());
    let refused = answer(&recorded(4)[2]).unwrap_err().error;
    assert_eq!((refused.kind, refused.message.as_str()), (Constraint, "a UNIQUE constraint refused the change: `u.s`"));
    assert_eq!(refused.source.as_deref().unwrap(), "SQLITE_CONSTRAINT: UNIQUE constraint failed: u.s");
}

#[test]
fn every_half_of_an_answer_is_broken() {
    let whole = RECORDED.lines().next().unwrap();
    for length in 0..whole.len() {
        let failure = answer(&whole[..length]).unwrap_err();
        assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Protocol, Execution::Unknown), "{length}");
        assert!(!failure.error.source.as_deref().unwrap_or_default().contains("neil"));
    }
    answer(whole).unwrap();
}

#[test]
fn answers_of_another_shape_are_broken() {
    let result = |inner: &str| format!(r#"{{"results":[{{"type":"ok","response":{{"type":"execute","result":{inner}}}}}]}}"#);
    let cases = [
        "{}".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        "<html>".to_owned(),
        r#"{"results":[]}"#.to_owned(),
        r#"{"results":[{"type":"ok"}]}"#.to_owned(),
        r#"{"results":[{"type":"none"}]}"#.to_owned(),
        r#"{"results":[{"type":"error","error":{}}]}"#.to_owned(),
        result(r#"{"cols":[],"rows":[]}"#),
        result(r#"{"cols":[],"rows":[],"affected_row_count":-1}"#),
        result(r#"{"cols":[],"rows":[[{"type":"null"}]],"affected_row_count":0}"#),
        result(r#"{"cols":[{"name":"a"}],"rows":[[]],"affected_row_count":0}"#),
    ];
    for body in cases {
        let failure = answer(&body).unwrap_err();
        assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Protocol, Execution::Unknown), "{body}");
    }
    let nameless = answer(&result(r#"{"cols":[{"name":null},{}],"rows":[],"affected_row_count":0}"#)).unwrap();
    assert_eq!(*nameless.columns, ["", "_2"].map(String::from));
    let changed = answer(&result(r#"{"cols":[],"rows":[],"affected_row_count":3}"#)).unwrap();
    assert_eq!(changed, Rows { affected: 3, ..Rows::default() });
}
