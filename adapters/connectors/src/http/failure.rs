//! What a failure of an API means.
//!
//! A message has the status and its standard words, and nothing of the answer: that is for the log,
//! and for the rules of the app.

use http::StatusCode;
use millrace_core::{Error, ErrorKind, Json, ports::HttpResponse};

use crate::shared::{StatementFailure, excerpt};

/// What the failure of an HTTP client means.
pub(super) fn of_client(error: Error) -> StatementFailure {
    let kind = error.kind;
    let told = |kind, message: &str| Error::new(kind, message).with_source(error.in_full());
    match kind {
        ErrorKind::Unavailable => StatementFailure::not_executed(told(kind, "could not connect to the API")),
        // The connection broke, or never came about: not every host can tell the two apart.
        ErrorKind::Protocol => StatementFailure::unknown(told(
            ErrorKind::Unavailable,
            "could not connect to the API, or it closed the connection before it answered",
        )),
        ErrorKind::TimedOut => StatementFailure::last(told(kind, "the API did not answer before the deadline of the call")),
        ErrorKind::TooLarge => StatementFailure::last(told(kind, "the answer of the API is longer than the result may be")),
        ErrorKind::Denied => StatementFailure::last(told(
            kind,
            "the API does not have a public address; the option `allow_private` of its adapter allows another",
        )),
        _ => StatementFailure::last(told(kind, "the request to the API is not possible with the settings of the adapter")),
    }
}

/// A request whose turn did not come in time.
pub(super) fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "the request ran past its deadline")
}

/// What an answer that is not a success means. `of` is who answered, `the API`.
pub(super) fn of_answer(response: &HttpResponse, of: &str) -> Error {
    let status = response.status;
    let kind = match status {
        400 | 422 => ErrorKind::Data,
        401 => ErrorKind::Credentials,
        403 => ErrorKind::Denied,
        404 | 409 | 410 | 412 => ErrorKind::Constraint,
        408 | 504 => ErrorKind::TimedOut,
        413 => ErrorKind::TooLarge,
        429 | 503 => ErrorKind::Busy,
        400..=499 => ErrorKind::Syntax,
        _ => ErrorKind::Protocol,
    };
    let text = String::from_utf8_lossy(&response.body);
    let body = serde_json::from_slice(&response.body).unwrap_or_else(|_| if text.is_empty() { Json::Null } else { Json::from(&*text) });
    Error::new(kind, format!("{of} answered {}", named(status))).with_source(excerpt(&text)).with_answer(status, body)
}

/// A status with its standard words, `404 (Not Found)`.
pub(super) fn named(status: u16) -> String {
    match StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()) {
        Some(words) => format!("{status} ({words})"),
        None => status.to_string(),
    }
}

/// A request of which a part is missing: a script's, or that of a bundle that no build wrote.
pub(super) fn damaged() -> Error {
    Error::new(ErrorKind::Syntax, "the request lacks a part, or has one of another form")
}
