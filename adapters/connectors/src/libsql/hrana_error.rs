//! What a libSQL server says when it fails: inside an answer, or instead of one.

use std::borrow::Cow;

use millrace_core::{Error, ErrorKind, Json};
use serde::Deserialize;

use crate::{
    shared::{StatementFailure, excerpt},
    sqlite_text::{error as sqlite_error, of_search, searches},
};

/// What the server says of an error.
#[derive(Deserialize)]
pub(super) struct HranaError<'a> {
    #[serde(borrow)]
    pub(super) message: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) code: Option<Cow<'a, str>>,
}

/// An error inside an answer: the statement failed, and changed nothing. `statement` is the
/// author's, where it is known.
pub(super) fn of_statement(code: &str, text: &str, statement: &str) -> StatementFailure {
    if let Some((words, offset)) = placed(code, text) {
        let message = format!("SQLite does not understand the statement at byte {offset}");
        return StatementFailure::last(Error::new(ErrorKind::Syntax, message).with_source(excerpt(words)));
    }
    let words = text.strip_prefix("SQLite error: ").unwrap_or(text);
    let (kind, message) = match code {
        // The server has a list of what it runs: `ATTACH`, most pragmas and the like are not on it.
        "SQL_PARSE_ERROR" if text.contains("unsupported statement") => {
            (ErrorKind::Denied, "the libSQL server does not run this kind of statement".to_owned())
        }
        "SQL_PARSE_ERROR" | "SQL_INPUT_ERROR" => (ErrorKind::Syntax, "SQLite does not understand the statement".to_owned()),
        "SQL_MANY_STATEMENTS" => (ErrorKind::Syntax, "the query contains more than one statement".to_owned()),
        "SQL_NO_STATEMENT" => (ErrorKind::Syntax, "the query contains no statement".to_owned()),
        "ARGS_INVALID" | "ARGS_BOTH_POSITIONAL_AND_NAMED" => {
            (ErrorKind::Syntax, "the statement expects a different number of values".to_owned())
        }
        "RESPONSE_TOO_LARGE" | "RESULT_TOO_LARGE" => (ErrorKind::TooLarge, "the result is larger than the libSQL server allows".to_owned()),
        "TRANSACTION_TIMEOUT" | "TRANSACTION_BUSY" => (ErrorKind::Busy, "the libSQL server has too many transactions".to_owned()),
        "BLOCKED" => (ErrorKind::Denied, "the libSQL server blocks the statement; check the database's limits".to_owned()),
        code if code.starts_with("AUTH_") => denied(),
        code if code.starts_with("SQLITE_") => sqlite_error::explain(code, words),
        _ => (ErrorKind::Protocol, "the libSQL server failed in an unexpected way".to_owned()),
    };
    let error = of_search(Error::new(kind, message).with_source(words), || searches(statement));
    let error = error.with_source(excerpt(&format!("{code}: {words}")));
    match kind {
        // What met a lock has changed nothing.
        ErrorKind::Busy => StatementFailure::not_executed(error),
        _ => StatementFailure::last(error),
    }
}

/// SQLite's words about a statement that it does not understand, and the byte at which that begins,
/// where the server tells it.
fn placed<'a>(code: &str, text: &'a str) -> Option<(&'a str, usize)> {
    let said = text.strip_prefix("SQL input error: ").filter(|_| code == "SQL_INPUT_ERROR")?;
    let (words, offset) = said.strip_suffix(')')?.rsplit_once(" (at offset ")?;
    Some((words, offset.parse().ok()?))
}

/// What a server says that had no connection to its own database in time, so that no statement was
/// begun.
const NOT_OPENED: &str = "Timed out while opening database connection";

/// A status other than 200. The body is JSON of several shapes, plain text, or a page of a proxy.
pub(super) fn of_status(status: u16, body: &[u8]) -> StatementFailure {
    let text = String::from_utf8_lossy(body);
    if let Ok(HranaError { message, code: Some(code) }) = serde_json::from_str::<HranaError<'_>>(&text)
        && status == 400
    {
        return of_statement(&code, &message, "");
    }
    let source = format!("status {status}: {}", excerpt(&words(&text)));
    let error = |kind, message: &str| Error::new(kind, message).with_source(source.clone());
    match status {
        401 => {
            let (kind, message) = denied();
            StatementFailure::last(error(kind, &message))
        }
        403 => StatementFailure::last(error(ErrorKind::Denied, "the libSQL server forbids this with the given `auth_token`")),
        404 => {
            StatementFailure::last(error(ErrorKind::Configuration, "the address of the connection string is not that of a libSQL database"))
        }
        413 => StatementFailure::last(error(ErrorKind::TooLarge, "the values are larger than the libSQL server allows")),
        429 => StatementFailure::last(error(ErrorKind::Busy, "the libSQL server is overloaded")),
        503 if words(&text) == NOT_OPENED => {
            StatementFailure::not_executed(error(ErrorKind::Unavailable, "the libSQL server is not ready"))
        }
        // A gateway says this of an answer that it did not get, too.
        503 => StatementFailure::unknown(error(ErrorKind::Unavailable, "the libSQL server is not ready")),
        // A Worker's own network says so: refused, unreachable, no TLS, a wrong certificate, no
        // such host. Nothing got there.
        521 | 523 | 525 | 526 | 530 => {
            StatementFailure::not_executed(error(ErrorKind::Unavailable, "could not connect to the libSQL server"))
        }
        300..=399 => {
            let message = "the libSQL server is at another address, and no redirect is followed; correct the connection string";
            StatementFailure::last(error(ErrorKind::Configuration, message))
        }
        500 if text.contains("invalid utf-8") => {
            let message = "the result contains text that is not UTF-8, which the libSQL server cannot send; select it as a blob";
            StatementFailure::last(error(ErrorKind::Protocol, message))
        }
        500..=599 => StatementFailure::unknown(error(ErrorKind::Unavailable, "the libSQL server failed")),
        _ => StatementFailure::last(error(ErrorKind::Protocol, "the libSQL server did not accept the request")),
    }
}

fn denied() -> (ErrorKind, String) {
    (ErrorKind::Credentials, "the libSQL server does not accept the `auth_token` of the adapter, or requires one".to_owned())
}

/// The message inside a body.
fn words(text: &str) -> String {
    let body: Json = serde_json::from_str(text).unwrap_or_default();
    let found = ["/error/message", "/error", "/message"].into_iter().find_map(|path| body.pointer(path)?.as_str());
    found.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Execution;

    #[test]
    fn errors_inside_an_answer() {
        use ErrorKind::{Busy, Constraint, Data, Denied, Protocol, Syntax, TooLarge};
        let table = [
            (
                "SQL_PARSE_ERROR",
                "SQL string could not be parsed: syntax error around L1:6: `selec`",
                Syntax,
                "SQLite does not understand the statement",
            ),
            (
                "SQL_PARSE_ERROR",
                "SQL string could not be parsed: unsupported statement: vacuum",
                Denied,
                "the libSQL server does not run this kind of statement",
            ),
            ("SQL_INPUT_ERROR", "SQL input error: not so (at offset x)", Syntax, "SQLite does not understand the statement"),
            ("SQL_MANY_STATEMENTS", "SQL string contains more than one statement", Syntax, "the query contains more than one statement"),
            ("SQL_NO_STATEMENT", "SQL string does not contain any statement", Syntax, "the query contains no statement"),
            (
                "ARGS_INVALID",
                "Arguments do not match SQL parameters: value for parameter ?1 not found",
                Syntax,
                "the statement expects a different number of values",
            ),
            ("SQLITE_UNKNOWN", "SQLite error: no such table: nowhere", Syntax, "SQLite does not understand the statement"),
            ("SQLITE_UNKNOWN", "SQLite error: not authorized", Denied, "the server forbids the statement"),
            (
                "SQLITE_CONSTRAINT",
                "SQLite error: NOT NULL constraint failed: c.n",
                Constraint,
                "a NOT NULL constraint refused the change: `c.n`",
            ),
            ("SQLITE_MISMATCH", "SQLite error: datatype mismatch", Data, "a value does not have the type of its column"),
            ("RESPONSE_TOO_LARGE", "Response is too large", TooLarge, "the result is larger than the libSQL server allows"),
            ("TRANSACTION_BUSY", "Server cannot handle additional transactions", Busy, "the libSQL server has too many transactions"),
            ("SQLITE_BUSY", "SQLite error: database is locked", Busy, "the database is locked by another connection"),
            ("BLOCKED", "Operation was blocked: writes", Denied, "the libSQL server blocks the statement; check the database's limits"),
            ("NEW_CODE", "secret", Protocol, "the libSQL server failed in an unexpected way"),
        ];
        for (code, text, kind, message) in table {
            let StatementFailure { error, outcome } = of_statement(code, text, "SELECT 1");
            assert_eq!((error.kind, error.message.as_str()), (kind, message), "{code} {text}");
            assert_eq!(outcome, if kind == Busy { Execution::NotExecuted } else { Execution::Final }, "{code}");
            assert!(error.source.as_deref().unwrap().starts_with(code));
        }
        let StatementFailure { error, outcome } = of_statement(
            "SQL_INPUT_ERROR",
            "SQL input error: no such column: \"(at offset 1)\" (at offset 7)",
            "SELECT * FROM t WHERE t MATCH ?1",
        );
        assert_eq!(
            (error.kind, error.message.as_str(), outcome),
            (Syntax, "SQLite does not understand the statement at byte 7", Execution::Final)
        );
        assert_eq!(error.source.as_deref().unwrap(), "no such column: \"(at offset 1)\"");
        for (statement, kind) in [("SELECT * FROM t WHERE t MATCH ?1", Data), ("SELECT a FROM t", Syntax), ("", Syntax)] {
            let StatementFailure { error, outcome } = of_statement("SQLITE_UNKNOWN", "SQLite error: no such column: ada", statement);
            assert_eq!((error.kind, outcome), (kind, Execution::Final), "{statement}");
            assert_eq!(error.source.as_deref().unwrap(), "SQLITE_UNKNOWN: no such column: ada");
        }
    }

    #[test]
    fn statuses_and_bodies() {
        use ErrorKind::{Busy, Configuration, Credentials, Denied, Protocol, TooLarge, Unavailable};
        let table = [
            (
                401,
                r#"{"error":"Unauthorized: `The JWT has expired`"}"#,
                Credentials,
                Execution::Final,
                "Unauthorized: `The JWT has expired`",
            ),
            (401, "", Credentials, Execution::Final, ""),
            (403, r#"{"error":"Authorization forbidden"}"#, Denied, Execution::Final, "Authorization forbidden"),
            (
                404,
                r#"{"error":{"message":"Namespace `x` does not exist"}}"#,
                Configuration,
                Execution::Final,
                "Namespace `x` does not exist",
            ),
            (400, "Received an invalid baton", Protocol, Execution::Final, "Received an invalid baton"),
            (302, "", Configuration, Execution::Final, ""),
            (413, "length limit exceeded", TooLarge, Execution::Final, "length limit exceeded"),
            (429, "slow down", Busy, Execution::Final, "slow down"),
            (500, "<html><h1>Oops</h1></html>", Unavailable, Execution::Unknown, "<html><h1>Oops</h1></html>"),
            (
                500,
                r#"{"error":"invalid utf-8 sequence of 1 bytes from index 1"}"#,
                Protocol,
                Execution::Final,
                "invalid utf-8 sequence of 1 bytes from index 1",
            ),
            (502, r#"{"message":"bad gateway","code":7}"#, Unavailable, Execution::Unknown, "bad gateway"),
            (503, "", Unavailable, Execution::Unknown, ""),
            (503, "<html>upstream connect error</html>", Unavailable, Execution::Unknown, "<html>upstream connect error</html>"),
            (503, r#"{"error":"The replicator exited"}"#, Unavailable, Execution::Unknown, "The replicator exited"),
            (503, r#"{"error":"Timed out while opening database connection"}"#, Unavailable, Execution::NotExecuted, NOT_OPENED),
            (521, "Web server is down", Unavailable, Execution::NotExecuted, "Web server is down"),
            (522, "Connection timed out", Unavailable, Execution::Unknown, "Connection timed out"),
            (204, "", Protocol, Execution::Final, ""),
        ];
        for (status, body, kind, outcome, said) in table {
            let failure = of_status(status, body.as_bytes());
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{status} {body}");
            assert_eq!(failure.error.source.as_deref().unwrap(), format!("status {status}: {said}"));
        }
        let expired = of_status(400, br#"{"message":"The stream has expired due to inactivity","code":"STREAM_EXPIRED"}"#);
        assert_eq!(expired.error.kind, Protocol);
        assert_eq!(of_status(500, "x".repeat(9999).as_bytes()).error.source.as_deref().unwrap().len(), 512);
    }
}
