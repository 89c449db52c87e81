//! What an answer that is an error means: by PostgreSQL's SQLSTATE as in connector `postgres`, by
//! PostgREST's [own codes](https://docs.postgrest.org/en/v12/references/errors.html), and by the
//! status where there is no code.
//!
//! A message names what the author wrote, never a value. The server's own words are the source.

use millrace_core::{Error, ErrorKind, Json, ports::HttpResponse};
use millrace_languages::postgrest::Verb;

use super::request::Prepared;
use crate::{
    postgres_text::{ServerError, of_statement},
    shared::{ReadOnly, StatementFailure, excerpt},
};

/// The longest name that a message shows.
const LONGEST_NAME: usize = 63;

/// Whether an answer is about the table, and not about the way there.
pub(super) fn is_of_no_table(response: &HttpResponse) -> bool {
    let body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    matches!(body.get("code").and_then(Json::as_str), Some("42P01" | "PGRST205" | "42501"))
}

/// What an error means, and whether the request may be sent again. `read_only` is the adapter's.
pub(super) fn of(response: &HttpResponse, prepared: &Prepared, read_only: bool) -> StatementFailure {
    // What is not JSON has no members.
    let body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    let member = |name: &str| body.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let code = member("code");
    let is_sqlstate = code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let words = || format!("status {}: {}", response.status, excerpt(&String::from_utf8_lossy(&response.body)));
    if code.starts_with("PGRST") {
        return of_postgrest(&code, prepared, words());
    }
    if code.starts_with("PT") && is_sqlstate {
        // Such a code says which status the answer is to have.
        let error = Error::new(ErrorKind::Constraint, "a function of the database refused the request").with_source(words());
        return StatementFailure::last(error);
    }
    if code == "25006" && prepared.verb == Verb::Rpc && prepared.method == "GET" {
        let message = "the function writes, and with `get` it may only read; remove `get`";
        return StatementFailure::last(Error::new(ErrorKind::Denied, message).with_source(words()));
    }
    if is_sqlstate {
        let message = member("message");
        let constraint = named(&message, "constraint \"");
        let (table, column) = (named(&message, "relation \""), named(&message, "column \""));
        let said = ServerError { code, words: message, detail: member("details"), table, column, constraint, ..ServerError::default() };
        return of_statement(&said, ReadOnly::of_adapter(read_only));
    }
    of_status(response.status, words())
}

/// The name that a message has in quotes after these words.
fn named(message: &str, before: &str) -> Option<String> {
    let (name, _) = message.split_once(before)?.1.split_once('"')?;
    (name.len() <= LONGEST_NAME).then(|| name.to_owned())
}

fn of_postgrest(code: &str, prepared: &Prepared, words: String) -> StatementFailure {
    use ErrorKind::{Busy, Configuration, Constraint, Credentials, Data, Protocol, Syntax, Unavailable};
    let unclear = |why: &str| (Syntax, format!("PostgREST does not understand the request: {why}"));
    let (kind, message) = match code.strip_prefix("PGRST").unwrap_or_default() {
        "000" | "001" | "002" => (Unavailable, "PostgREST has no connection to its database".to_owned()),
        "003" => (Busy, "PostgREST has no free connection to its database".to_owned()),
        "103" => (Data, "PostgREST rejected `limit` or `offset`".to_owned()),
        "106" => (Configuration, "PostgREST does not serve the `schema` of the adapter".to_owned()),
        "108" => unclear("a condition is on related rows that `select` does not have"),
        "116" if prepared.reads => (Constraint, "the request must find exactly 1 row, and found none or several".to_owned()),
        "116" => {
            (Constraint, "the request must change exactly 1 row, and would have changed none or several; nothing was changed".to_owned())
        }
        "123" => unclear("the server does not allow aggregate functions"),
        "200" => unclear("a table of `select` is not related to the table that is read"),
        "201" => unclear("there are several relationships to a table of `select`; name one, `table!relationship(…)`"),
        "202" => unclear("no function has this name and takes these arguments"),
        "203" => unclear("several functions have this name and take these arguments"),
        "204" => unclear("a column is missing"),
        "205" => unclear("a table is missing"),
        "300" => (Configuration, "PostgREST has no secret to check the `token` of the adapter with".to_owned()),
        "301" | "303" => {
            (Credentials, "PostgREST does not accept the `token` of the adapter: it has expired, or is not for this server".to_owned())
        }
        "302" => (Configuration, "PostgREST admits nobody without a `token`".to_owned()),
        "X00" => (Protocol, "PostgREST failed in an unexpected way".to_owned()),
        number if number.starts_with('1') || number.starts_with('2') => unclear("the log has its words"),
        _ => (Protocol, "PostgREST failed in an unexpected way".to_owned()),
    };
    let error = Error::new(kind, message).with_source(words);
    match kind {
        // It has no connection, so that nothing was executed.
        Unavailable | Busy => StatementFailure::not_executed(error),
        _ => StatementFailure::last(error),
    }
}

/// What stands before PostgREST says no more than a status.
fn of_status(status: u16, words: String) -> StatementFailure {
    use ErrorKind::{Busy, Configuration, Constraint, Credentials, Protocol, Unavailable};
    let error = |kind, message: &str| Error::new(kind, message).with_source(words);
    match status {
        401 | 403 => StatementFailure::last(error(Credentials, "the server does not accept the `api_key` or the `token` of the adapter")),
        404 | 405 => {
            StatementFailure::last(error(Configuration, "the address of the connection string is not that of a REST API of PostgREST"))
        }
        300..=399 => StatementFailure::last(error(Configuration, "the address of the connection string redirects elsewhere")),
        413 | 414 | 431 => StatementFailure::last(error(Constraint, "the request is larger than the server takes")),
        429 => StatementFailure::last(error(Busy, "the server takes no more requests for now")),
        // A gateway says this of an answer that it did not get, too.
        502..=504 => StatementFailure::unknown(error(Unavailable, "PostgREST is not available")),
        500.. => StatementFailure::unknown(error(Unavailable, "the server failed")),
        _ => StatementFailure::unknown(error(Protocol, "the server answered in an unexpected way")),
    }
}

#[cfg(test)]
mod tests {
    use millrace_core::headers::Headers;

    use super::*;
    use crate::shared::Execution::{self, Final, NotExecuted, Unknown};

    fn failure(status: u16, body: &str, prepared: &Prepared) -> (ErrorKind, Execution, String) {
        let response = HttpResponse { status, headers: Headers::new(), body: body.into() };
        let StatementFailure { error, outcome } = of(&response, prepared, false);
        assert!(!error.message.contains("hunter2"), "{}", error.message);
        (error.kind, outcome, error.message.clone())
    }

    #[test]
    fn errors_have_their_kinds() {
        use ErrorKind::{Busy, Configuration, Constraint, Credentials, Denied, Protocol, Syntax, TimedOut, Unavailable};
        let coded = |code: &str| format!(r#"{{"code":"{code}","details":"hunter2","hint":null,"message":"hunter2"}}"#);
        for (status, body, kind, outcome, expected) in [
            (
                409,
                r#"{"code":"23505","details":"Key (a)=(hunter2) exists","message":"duplicate key value violates unique constraint \"items_pkey\""}"#,
                Constraint,
                Final,
                "a UNIQUE constraint refused the change: `items_pkey`",
            ),
            (
                400,
                r#"{"code":"23502","details":"hunter2","message":"null value in column \"name\" of relation \"items\" violates not-null constraint"}"#,
                Constraint,
                Final,
                "a NOT NULL constraint refused the change: `items.name`",
            ),
            (404, &coded("42P01"), Syntax, Final, "PostgreSQL does not understand the statement: a table is missing"),
            (403, &coded("42501"), Denied, Final, "the user of the adapter may not do what the statement does"),
            (401, &coded("42501"), Denied, Final, "the user of the adapter may not do what the statement does"),
            (500, &coded("57014"), TimedOut, Final, "the statement ran past its deadline"),
            (500, &coded("40001"), Busy, NotExecuted, "PostgreSQL ended the statement because of others that ran concurrently"),
            (503, &coded("57P01"), Unavailable, Unknown, "PostgreSQL ended the connection"),
            (402, &coded("PT402"), Constraint, Final, "a function of the database refused the request"),
            (503, &coded("PGRST000"), Unavailable, NotExecuted, "PostgREST has no connection to its database"),
            (504, &coded("PGRST003"), Busy, NotExecuted, "PostgREST has no free connection to its database"),
            (400, &coded("PGRST100"), Syntax, Final, "PostgREST does not understand the request: the log has its words"),
            (406, &coded("PGRST106"), Configuration, Final, "PostgREST does not serve the `schema` of the adapter"),
            (
                300,
                &coded("PGRST201"),
                Syntax,
                Final,
                "PostgREST does not understand the request: there are several relationships to a table of `select`; name one, `table!relationship(…)`",
            ),
            (
                401,
                &coded("PGRST301"),
                Credentials,
                Final,
                "PostgREST does not accept the `token` of the adapter: it has expired, or is not for this server",
            ),
            (
                401,
                &coded("PGRST303"),
                Credentials,
                Final,
                "PostgREST does not accept the `token` of the adapter: it has expired, or is not for this server",
            ),
            (500, &coded("PGRSTX00"), Protocol, Final, "PostgREST failed in an unexpected way"),
            (
                401,
                r#"{"message":"Invalid API key","hint":"hunter2"}"#,
                Credentials,
                Final,
                "the server does not accept the `api_key` or the `token` of the adapter",
            ),
            (404, "<html>", Configuration, Final, "the address of the connection string is not that of a REST API of PostgREST"),
            (302, "", Configuration, Final, "the address of the connection string redirects elsewhere"),
            (414, "", Constraint, Final, "the request is larger than the server takes"),
            (429, "", Busy, Final, "the server takes no more requests for now"),
            (503, "<html>", Unavailable, Unknown, "PostgREST is not available"),
            (500, r#"{"code":7}"#, Unavailable, Unknown, "the server failed"),
            (418, r#"{"code":"hunter2"}"#, Protocol, Unknown, "the server answered in an unexpected way"),
        ] {
            assert_eq!(failure(status, body, &Prepared::reading("")), (kind, outcome, expected.to_owned()), "{status} {body}");
        }
    }

    #[test]
    fn one_row_means_something_else_for_a_write() {
        let write = Prepared { verb: Verb::Update, method: "PATCH", reads: false, ..Prepared::reading("") };
        let (kind, outcome, message) = failure(406, r#"{"code":"PGRST116"}"#, &write);
        assert!(kind == ErrorKind::Constraint && outcome == Final && message.ends_with("nothing was changed"), "{message}");
        let function = Prepared { verb: Verb::Rpc, ..Prepared::reading("") };
        assert_eq!(failure(405, r#"{"code":"25006"}"#, &function).0, ErrorKind::Denied);
    }
}
