//! Requests as bytes, and answers.

use millrace_core::{app::Access, secret::Secret};
use serde_json::json;

use super::*;
use crate::remote::Outcome;

const READS: Effect = Effect { reads: true, returns: true };
const WRITES: Effect = Effect { reads: false, returns: false };

fn body_of(text: &str, params: &[Value]) -> String {
    let address = Address { url: "https://api/raw".into(), token: Secret::new("t.k".into()) };
    let query = Query { text, params, access: Access::Read, deadline_ms: 7, max_rows: 10, max_bytes: 100 };
    let request = prepare(&address, &query).unwrap();
    assert_eq!((request.method.as_str(), request.url.as_str(), request.deadline_ms), ("POST", "https://api/raw", 7));
    assert_eq!(request.headers.first("authorization"), Some("Bearer t.k"));
    String::from_utf8(request.body).unwrap()
}

#[test]
fn texts_go_as_they_are_and_other_values_as_text_that_sql_turns_back() {
    let text = |value: &str| Value::Text(value.into());
    assert_eq!(body_of("SELECT 1", &[]), r#"{"sql":"SELECT 1"}"#);
    assert_eq!(body_of("SELECT ?1", &[text("o'neil; --")]), r#"{"sql":"SELECT ?1","params":["o'neil; --"]}"#);
    assert_eq!(
        body_of("SELECT ?2, '?1', ?1, ?3", &[Value::I64(i64::MIN), text("x"), Value::Bytes(vec![0xde, 0xad])]),
        r#"{"sql":"SELECT ?2, '?1', json_extract(?1, '$'), unhex(?3)","params":["-9223372036854775808","x","dead"]}"#
    );
}

#[test]
fn every_value_has_its_form() {
    let table = [
        (Value::Null, "null", Form::Json),
        (Value::Bool(true), "1", Form::Json),
        (Value::U64(7), "7", Form::Json),
        (Value::U64(u64::MAX), "18446744073709551615", Form::Text),
        (Value::F64(1.0), "1.0", Form::Json),
        (Value::F64(-0.0), "-0.0", Form::Json),
        (Value::F64(1e300), "1e300", Form::Json),
        (Value::F64(f64::NAN), "null", Form::Json),
        (Value::Decimal("1.50".into()), "1.50", Form::Text),
        (Value::Text("a\0b".into()), "a\0b", Form::Text),
        (Value::Bytes(vec![]), "", Form::Hex),
        (Value::Json(json!({"a": 1})), "{\"a\":1}", Form::Text),
        (Value::Timestamp("2026-01-02".into()), "2026-01-02", Form::Text),
        (Value::Array(vec![Value::I64(1)]), "[1]", Form::Text),
    ];
    for (value, text, form) in table {
        assert_eq!(Parameter::of(&value).unwrap(), Parameter { text: text.into(), form }, "{value:?}");
    }
    assert_eq!(Parameter::of(&Value::F64(f64::INFINITY)).unwrap_err().kind, ErrorKind::Constraint);
}

fn answer(body: &str, effect: Effect) -> Result<Rows, Failure> {
    parse(&HttpResponse { status: 200, headers: Headers::new(), body: body.as_bytes().to_vec() }, effect)
}

fn result(results: &str, changes: u64) -> String {
    format!(
        r#"{{"success":true,"errors":[],"messages":[],"result":[{{"meta":{{"changed_db":true,"changes":{changes},"duration":0.2,"last_row_id":0}},"results":{results},"success":true}}]}}"#
    )
}

#[test]
fn rows_keep_order_and_double_names() {
    let rows = answer(
        &result(r#"{"columns":["a","a","b"],"rows":[[1,9007199254740991,[222,173]],[1.5,"x\u0000",null],[1e300,-1,[]]]}"#, 0),
        READS,
    )
    .unwrap();
    assert_eq!(*rows.columns, ["a", "a_2", "b"].map(String::from));
    let expected = [
        [Value::I64(1), Value::I64(9_007_199_254_740_991), Value::Bytes(vec![222, 173])],
        [Value::F64(1.5), Value::Text("x\0".into()), Value::Null],
        [Value::F64(1e300), Value::I64(-1), Value::Bytes(vec![])],
    ];
    assert_eq!(rows.rows, expected);
}

#[test]
fn a_rounded_integer_is_an_error_that_names_the_column() {
    for number in ["9007199254740992", "-9007199254740992", "9223372036854776000", "9223372036854775807"] {
        let body = result(&format!(r#"{{"columns":["v","total"],"rows":[[1,{number}]]}}"#), 0);
        let read = answer(&body, READS).unwrap_err();
        assert_eq!((read.error.kind, read.outcome), (ErrorKind::Protocol, Outcome::Final), "{number}");
        assert!(read.error.message.contains("`CAST(total AS TEXT) AS total`"), "{}", read.error.message);
        let written = answer(&body, Effect { reads: false, returns: true }).unwrap_err();
        assert!(written.error.message.ends_with("; the statement took effect"), "{}", written.error.message);
    }
}

#[test]
fn a_result_without_columns_is_a_count_or_an_empty_list() {
    let empty = result(r#"{"columns":[],"rows":[]}"#, 3);
    assert_eq!(answer(&empty, WRITES).unwrap(), Rows { affected: 3, ..Rows::default() });
    for effect in [READS, Effect { reads: false, returns: true }] {
        assert_eq!(serde_json::to_value(answer(&empty, effect).unwrap().json()).unwrap(), json!([]));
    }
}

#[test]
fn a_failure_inside_of_a_good_status_is_one() {
    let body = r#"{"success":false,"errors":[{"code":7500,"message":"no such table: x: SQLITE_ERROR"}],"messages":[],"result":[]}"#;
    assert_eq!(answer(body, READS).unwrap_err().error.kind, ErrorKind::Syntax);
    let new = r#"{"success":false,"errors":[{"code":1,"message":"new"}],"messages":[],"result":null}"#;
    let failure = answer(new, READS).unwrap_err();
    assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Protocol, Outcome::Unknown));
}

#[test]
fn broken_answers() {
    let whole = result(r#"{"columns":["v"],"rows":[["secret"]]}"#, 0);
    let halves = (0..whole.len()).map(|length| whole[..length].to_owned());
    let others = [
        "<html>".to_owned(),
        r#"{"success":true,"errors":[],"result":[]}"#.to_owned(),
        r#"{"success":true,"errors":[],"result":null}"#.to_owned(),
        result(r#"{"columns":["v"],"rows":[[]]}"#, 0),
        result(r#"{"columns":["v"],"rows":[[{}]]}"#, 0),
        result(r#"{"columns":["v"],"rows":[[[256]]]}"#, 0),
        result(r#"{"columns":["v"],"rows":[[["a"]]]}"#, 0),
        result(r#"[{"v":1}]"#, 0),
    ];
    for body in halves.chain(others) {
        let failure = answer(&body, READS).unwrap_err();
        assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Protocol, Outcome::Unknown), "{body}");
        assert!(!failure.error.source.unwrap_or_default().contains("secret"));
    }
    answer(&whole, READS).unwrap();
}
