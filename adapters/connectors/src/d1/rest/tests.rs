//! Requests as bytes, and answers. What an answer's rows become is tested in
//! [`super::super::reply`].

use millrace_core::{
    ports::Command,
    secret::Secret,
    value::{Rows, Value},
};

use super::*;
use crate::shared::Execution;

fn body_of(text: &str, params: &[Value]) -> String {
    let address = D1Address { url: "https://api/raw".into(), token: Secret::new("t.k".into()) };
    let query = Query::reading(Command::Statement { text, values: params }, 7, 10, 100);
    let request = request(&address, &Prepared::of(text, params, false).unwrap(), &query).unwrap();
    assert_eq!((request.method.as_str(), request.url.as_str(), request.deadline_ms), ("POST", "https://api/raw", 7));
    assert_eq!(request.headers.first("authorization"), Some("Bearer t.k"));
    String::from_utf8(request.body).unwrap()
}

#[test]
fn a_request_holds_a_statement_and_texts() {
    let text = |value: &str| Value::Text(value.into());
    assert_eq!(body_of("SELECT 1", &[]), r#"{"sql":"SELECT 1"}"#);
    assert_eq!(body_of("SELECT ?1", &[text("o'neil; --")]), r#"{"sql":"SELECT ?1","params":["o'neil; --"]}"#);
    assert_eq!(
        body_of("SELECT ?2, '?1', ?1, ?3", &[Value::I64(i64::MIN), text("x"), Value::Bytes(vec![0xde, 0xad])]),
        r#"{"sql":"SELECT ?2, '?1', json_extract(?1, '$'), unhex(?3)","params":["-9223372036854775808","x","dead"]}"#
    );
}

fn answer(body: &str) -> Result<Rows, StatementFailure> {
    let prepared = Prepared::of("DELETE FROM t", &[], false).unwrap();
    parse(&HttpResponse { status: 200, headers: Headers::new(), body: body.as_bytes().to_vec() }, &prepared)?.into_rows(&prepared)
}

fn result(results: &str, changes: u64) -> String {
    format!(
        r#"{{"success":true,"errors":[],"messages":[],"result":[{{"meta":{{"changed_db":true,"changes":{changes},"duration":0.2,"last_row_id":0}},"results":{results},"success":true}}]}}"#
    )
}

#[test]
fn an_envelope_holds_one_result() {
    assert_eq!(answer(&result(r#"{"columns":[],"rows":[]}"#, 3)).unwrap(), Rows { affected: 3, ..Rows::default() });
    assert_eq!(answer(&result(r#"{"columns":["v"],"rows":[[7]]}"#, 0)).unwrap().rows, [[Value::I64(7)]]);
}

#[test]
fn a_failure_inside_of_a_good_status_is_one() {
    let body = r#"{"success":false,"errors":[{"code":7500,"message":"no such table: x: SQLITE_ERROR"}],"messages":[],"result":[]}"#;
    assert_eq!(answer(body).unwrap_err().error.kind, ErrorKind::Syntax);
    let new = r#"{"success":false,"errors":[{"code":1,"message":"new"}],"messages":[],"result":null}"#;
    let failure = answer(new).unwrap_err();
    assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Protocol, Execution::Unknown));
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
        result(r#"[{"v":1}]"#, 0),
    ];
    for body in halves.chain(others) {
        let failure = answer(&body).unwrap_err();
        assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Protocol, Execution::Unknown), "{body}");
        assert!(!failure.error.source.as_deref().unwrap_or_default().contains("secret"));
    }
    answer(&whole).unwrap();
}
