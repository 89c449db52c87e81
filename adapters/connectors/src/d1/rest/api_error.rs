//! What D1's API says when it fails.
//!
//! Errors: <https://developers.cloudflare.com/d1/observability/debug-d1/>.

use std::borrow::Cow;

use millrace_core::{Error, ErrorKind};
use serde::Deserialize;

use super::super::{error_text as d1_failure, statement::Prepared};
use crate::shared::{StatementFailure, excerpt};

/// What the API says in place of a result.
#[derive(Deserialize)]
struct Errors<'a> {
    #[serde(borrow)]
    errors: Vec<ApiError<'a>>,
}

#[derive(Deserialize)]
struct ApiError<'a> {
    code: Option<i64>,
    #[serde(borrow)]
    message: Cow<'a, str>,
}

/// What the API says of a token that it does not know, does not take for one, or that may not do
/// this. It does not tell these apart.
const DENIED: [i64; 6] = [6003, 6111, 7403, 9109, 9106, 10000];
const UNKNOWN_DATABASE: i64 = 7404;
const THROTTLED: [i64; 2] = [971, 10429];

/// A status other than 200. The body is an envelope, or a page of a proxy.
pub(super) fn of_answer(status: u16, body: &[u8], prepared: &Prepared<'_>) -> StatementFailure {
    let said = first_error(body);
    if let Some(failure) = said.as_ref().and_then(|said| of_error(said, prepared)) {
        return failure;
    }
    let words = said.map_or_else(|| String::from_utf8_lossy(body).into_owned(), |said| said.message.into_owned());
    let error = |kind, message: &str| Error::new(kind, message).with_source(format!("status {status}: {}", excerpt(&words)));
    match status {
        401 | 403 => StatementFailure::last(error(ErrorKind::Credentials, DENIED_MESSAGE)),
        404 => StatementFailure::last(error(ErrorKind::Configuration, UNKNOWN_MESSAGE)),
        413 => StatementFailure::last(error(ErrorKind::TooLarge, "the values are larger than D1 allows")),
        429 => StatementFailure::last(error(ErrorKind::Busy, BUSY_MESSAGE)),
        // A gateway says this of an answer that it did not get, too. Where D1 itself is overloaded,
        // its words are known.
        503 => StatementFailure::unknown(error(ErrorKind::Unavailable, "D1 is not ready")),
        300..=399 => StatementFailure::last(error(
            ErrorKind::Configuration,
            "D1 is at another address, and no redirect is followed; correct option `base_url`",
        )),
        500..=599 => StatementFailure::unknown(error(ErrorKind::Unavailable, "D1 failed")),
        _ => StatementFailure::last(error(ErrorKind::Protocol, "D1 did not accept the request")),
    }
}

/// The failure that an envelope of status 200 holds.
pub(super) fn inside(body: &[u8], prepared: &Prepared<'_>) -> Option<StatementFailure> {
    let said = first_error(body)?;
    Some(of_error(&said, prepared).unwrap_or_else(|| {
        let error = Error::new(ErrorKind::Protocol, "D1 failed in an unexpected way");
        StatementFailure::unknown(error.with_source(excerpt(&said.message)))
    }))
}

const DENIED_MESSAGE: &str = "D1 does not accept the `api_token` of the adapter, or it may not do this";
const UNKNOWN_MESSAGE: &str = "a D1 database with that account and id does not exist";
const BUSY_MESSAGE: &str = "D1 is overloaded, or the account has sent too many requests";

fn first_error(body: &[u8]) -> Option<ApiError<'_>> {
    serde_json::from_slice::<Errors<'_>>(body).ok()?.errors.into_iter().next()
}

fn of_error(said: &ApiError<'_>, prepared: &Prepared<'_>) -> Option<StatementFailure> {
    let error = |kind, message: &str| Error::new(kind, message).with_source(excerpt(&said.message));
    if let Some(code) = said.code {
        if DENIED.contains(&code) {
            return Some(StatementFailure::last(error(ErrorKind::Credentials, DENIED_MESSAGE)));
        }
        if code == UNKNOWN_DATABASE {
            return Some(StatementFailure::last(error(ErrorKind::Configuration, UNKNOWN_MESSAGE)));
        }
        if THROTTLED.contains(&code) {
            return Some(StatementFailure::last(error(ErrorKind::Busy, BUSY_MESSAGE)));
        }
    }
    d1_failure::explain(&said.message, prepared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Execution;

    #[test]
    fn errors_of_the_api() {
        use ErrorKind::{Busy, Configuration, Credentials, Protocol, Syntax, Unavailable};
        let table = [
            (400, 7500, "no such table: nowhere: SQLITE_ERROR", Syntax, Execution::Final),
            (500, 10001, "D1_ERROR: near \"selec\": syntax error at offset 0: SQLITE_ERROR", Syntax, Execution::Final),
            (500, 7500, "Network connection lost.", Unavailable, Execution::Unknown),
            (500, 7500, "D1 DB is overloaded. Too many requests queued.", Busy, Execution::NotExecuted),
            (500, 7500, "something new", Unavailable, Execution::Unknown),
            (400, 7400, "The request is malformed", Protocol, Execution::Final),
            (401, 10000, "Authentication error", Credentials, Execution::Final),
            (400, 6003, "Invalid request headers", Credentials, Execution::Final),
            (403, 7403, "The given account is not valid or is not authorized to access this service", Credentials, Execution::Final),
            (404, 7404, "The database 1111 could not be found", Configuration, Execution::Final),
            (429, 971, "Please wait and consider throttling your request speed", Busy, Execution::Final),
            (429, 1, "slow down", Busy, Execution::Final),
            (503, 1, "not now", Unavailable, Execution::Unknown),
            (503, 7500, "D1 DB is overloaded. Requests queued for too long.", Busy, Execution::NotExecuted),
        ];
        for (status, code, message, kind, outcome) in table {
            let body =
                serde_json::json!({"success": false, "errors": [{"code": code, "message": message}], "messages": [], "result": null});
            let failure = of_answer(status, body.to_string().as_bytes(), &Prepared::of("SELECT 1", &[], false).unwrap());
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{status} {message}");
            let words =
                message.trim_start_matches("D1_ERROR: ").split(" at offset").next().and_then(|text| text.split(": SQLITE").next()).unwrap();
            assert!(failure.error.source.as_deref().unwrap().contains(words), "{message}");
        }
    }

    #[test]
    fn answers_that_are_no_envelope() {
        let table = [
            (500, "<html>", ErrorKind::Unavailable, Execution::Unknown),
            (502, "", ErrorKind::Unavailable, Execution::Unknown),
            (503, "upstream connect error", ErrorKind::Unavailable, Execution::Unknown),
            (401, "no", ErrorKind::Credentials, Execution::Final),
            (404, "{}", ErrorKind::Configuration, Execution::Final),
            (307, "", ErrorKind::Configuration, Execution::Final),
            (413, "", ErrorKind::TooLarge, Execution::Final),
            (418, "{\"errors\":[]}", ErrorKind::Protocol, Execution::Final),
        ];
        for (status, body, kind, outcome) in table {
            let failure = of_answer(status, body.as_bytes(), &Prepared::of("SELECT 1", &[], false).unwrap());
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{status}");
        }
    }
}
