//! An answer → rows.
//!
//! A row is an object: its members are columns, in the order in which they first appear. What a
//! function returns that is no row stands in column `value`.

use millrace_core::{
    Error, ErrorKind, Json,
    ports::HttpResponse,
    value::{Rows, Value},
};
use millrace_languages::postgrest::Verb;

use super::request::Prepared;
use crate::{
    documents::table,
    shared::{StatementFailure, exact_json},
};

/// The column of what is no row.
const VALUE: &str = "value";

/// The rows of an answer that is no error. `server_max_rows`: how many rows the server sends at
/// most. `cuts`: whether a result may be a part.
///
/// # Errors
/// The answer has another form, or may not be whole. What writes has done so.
pub(super) fn rows_of(
    response: &HttpResponse,
    prepared: &Prepared,
    server_max_rows: Option<usize>,
    cuts: bool,
) -> Result<Rows, StatementFailure> {
    if !prepared.returns {
        let count = total(response).ok_or_else(|| broken(prepared, "the number of rows is missing"))?;
        return Ok(match prepared.verb {
            Verb::Count => {
                let count = i64::try_from(count).map_or(Value::U64(count), Value::I64);
                Rows { columns: ["count".to_owned()].into(), rows: vec![vec![count]], ..Rows::default() }
            }
            _ => Rows { affected: count, ..Rows::default() },
        });
    }
    // Of a function that returns nothing.
    let body = if response.body.is_empty() && response.status == 204 { b"null" } else { response.body.as_slice() };
    let json: Json = serde_json::from_slice(&exact_json(body)).map_err(|_| broken(prepared, "the answer is not JSON, or too deep"))?;
    let elements = match json {
        Json::Array(elements) => elements,
        one => vec![one],
    };
    let may_have_more = match (server_max_rows, prepared.limit) {
        (Some(most), Some(limit)) if elements.len() >= most && limit > most as u64 => Some(most),
        _ => None,
    };
    if let Some(most) = may_have_more.filter(|_| !cuts) {
        let what = format!(
            "the result has as many rows as the server sends at most, {most}, and may have more; ask for fewer with `limit`, or tell the adapter what the \
             server sends, `server_max_rows`"
        );
        return Err(StatementFailure::last(took_effect(Error::new(ErrorKind::TooLarge, what), prepared)));
    }
    let document = |element| match element {
        Json::Object(members) => members.into_iter().collect(),
        value => vec![(VALUE.to_owned(), value)],
    };
    let rows = table(elements.into_iter().map(document).collect(), VALUE, "name those that you need in `select`", cell);
    let rows = rows.map_err(|error| StatementFailure::last(took_effect(error, prepared)))?;
    Ok(Rows { truncated: may_have_more.is_some(), ..rows })
}

fn cell(value: Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::I64(integer),
            None => number.as_f64().map_or(Value::Null, Value::F64),
        },
        Json::String(text) => Value::Text(text),
        value => Value::Json(value),
    }
}

/// The number behind the slash: `Content-Range: 0-9/42`.
fn total(response: &HttpResponse) -> Option<u64> {
    response.headers.first("content-range")?.rsplit_once('/')?.1.parse().ok()
}

fn broken(prepared: &Prepared, why: &str) -> StatementFailure {
    let error = Error::new(ErrorKind::Protocol, "the answer of PostgREST cannot be understood").with_source(why);
    // The transaction ends before the answer begins. A read may be asked for again.
    if prepared.reads { StatementFailure::unknown(error) } else { StatementFailure::last(took_effect(error, prepared)) }
}

fn took_effect(error: Error, prepared: &Prepared) -> Error {
    if prepared.reads {
        return error;
    }
    let message = format!("{}; the request took effect", error.message);
    error.with_message(message)
}

#[cfg(test)]
mod tests {
    use millrace_core::headers::Headers;

    use super::*;
    use crate::shared::Execution;

    fn answer(status: u16, range: &str, body: &str) -> HttpResponse {
        let mut headers = Headers::new();
        headers.append("content-range", range);
        HttpResponse { status, headers, body: body.into() }
    }

    fn json(body: &str) -> String {
        let prepared = Prepared { limit: Some(3), ..Prepared::reading("") };
        match rows_of(&answer(200, "*/*", body), &prepared, Some(3), false) {
            Ok(rows) => serde_json::to_string(&rows.json()).unwrap(),
            Err(failure) => format!("{:?} {:?} {}", failure.outcome, failure.error.kind, failure.error.message),
        }
    }

    #[test]
    fn answers_are_rows() {
        for (body, expected) in [
            ("[]", "[]"),
            (r#"[{"b": 1.50, "a": 9007199254740993}]"#, r#"[{"b":1.5,"a":"9007199254740993"}]"#),
            (
                r#"[{"a": 1}, {"b": {"c": [12345678901234567890.10]}}]"#,
                r#"[{"a":1,"b":null},{"a":null,"b":{"c":["12345678901234567890.10"]}}]"#,
            ),
            (r#"{"a": 1}"#, r#"[{"a":1}]"#),
            ("7", r#"[{"value":7}]"#),
            ("null", r#"[{"value":null}]"#),
            (r#"[1, "x"]"#, r#"[{"value":1},{"value":"x"}]"#),
        ] {
            assert_eq!(json(body), expected, "{body}");
        }
        let nothing = rows_of(&answer(204, "0-0/*", ""), &Prepared::reading(""), None, false).unwrap();
        assert_eq!(serde_json::to_string(&nothing.json()).unwrap(), r#"[{"value":null}]"#);
        for body in ["", "<html>", "[{\"a\": 1", &format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000)), "[1e999999999999999999999"] {
            assert_eq!(json(body), "Unknown Protocol the answer of PostgREST cannot be understood", "{}", body.len());
        }
        assert_eq!(json("[1,2,3]"), r#"[{"value":1},{"value":2},{"value":3}]"#, "no more were asked for");
        let more = Prepared { limit: Some(4), ..Prepared::reading("") };
        let failure = rows_of(&answer(200, "0-2/*", "[1,2,3]"), &more, Some(3), false).unwrap_err();
        assert!(failure.outcome == Execution::Final && failure.error.kind == ErrorKind::TooLarge, "{failure:?}");
        assert!(rows_of(&answer(200, "0-2/*", "[1,2,3]"), &more, None, false).is_ok());
        assert!(rows_of(&answer(200, "0-2/*", "[1,2,3]"), &more, Some(3), true).unwrap().truncated);
    }

    #[test]
    fn a_write_says_how_many_rows_it_changed() {
        let write = Prepared { verb: Verb::Update, reads: false, returns: false, ..Prepared::reading("") };
        assert_eq!(rows_of(&answer(204, "0-6/7", ""), &write, None, false).unwrap(), Rows { affected: 7, ..Rows::default() });
        assert_eq!(rows_of(&answer(204, "*/0", ""), &write, None, false).unwrap().affected, 0);
        for range in ["*/*", "7", "", "0-1/99999999999999999999999"] {
            let failure = rows_of(&answer(204, range, ""), &write, None, false).unwrap_err();
            assert!(
                failure.outcome == Execution::Final && failure.error.message.ends_with("the request took effect"),
                "{range}: {failure:?}"
            );
        }
    }
}
