//! A response → the answer of a batch's last statement, or why there is none.

use std::borrow::Cow;

use millrace_core::{
    Error, ErrorKind,
    ports::{HttpResponse, Query},
    value::{Rows, Value, unique_names},
};
use serde::Deserialize;

use crate::{
    postgres_text::{Kind, Oid, ServerError, limits, of_login, of_statement},
    shared::{StatementFailure, excerpt},
};

/// What the API says where it could not reach the database, with nothing executed.
const NOT_CONNECTED: [&str; 4] = [
    "Couldn't connect to compute node",
    "Failed to acquire permit to connect to the database",
    "Control plane request failed",
    "Too many connections to this endpoint",
];
/// What it says where it knows no such database, or nobody may connect to it from here.
const NOT_ADMITTED: [&str; 3] =
    ["equested endpoint could not be found", "Endpoint ID is not specified", "is not allowed to connect to this endpoint"];

/// A batch that failed.
pub(super) struct Refusal {
    pub(super) failure: StatementFailure,
    /// What PostgreSQL said, where it did.
    pub(super) said: Option<ServerError>,
    /// What it was doing when it failed.
    pub(super) context: String,
}

impl From<StatementFailure> for Refusal {
    fn from(failure: StatementFailure) -> Self {
        Self { failure, said: None, context: String::new() }
    }
}

#[derive(Deserialize)]
struct BatchReply<'a> {
    #[serde(borrow)]
    results: Vec<StepReply<'a>>,
}

/// The answer of one statement.
#[derive(Deserialize)]
pub(super) struct StepReply<'a> {
    #[serde(borrow)]
    fields: Vec<Field<'a>>,
    #[serde(borrow)]
    rows: Vec<Vec<Option<Text<'a>>>>,
    #[serde(rename = "rowCount")]
    row_count: Option<u64>,
}

#[derive(Deserialize)]
struct Field<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(rename = "dataTypeID")]
    oid: Oid,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// What the API says of an error: what is not PostgreSQL's has no `code`.
#[derive(Deserialize)]
struct ErrorReply {
    message: Option<String>,
    code: Option<String>,
    detail: Option<String>,
    severity: Option<String>,
    table: Option<String>,
    column: Option<String>,
    constraint: Option<String>,
    routine: Option<String>,
    #[serde(rename = "where")]
    context: Option<String>,
}

impl StepReply<'_> {
    /// The rows, within the query's limits.
    ///
    /// # Errors
    /// There are too many of them, or they do not fit their columns. The statement has been executed.
    pub(super) fn into_rows(self, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        if self.rows.iter().any(|row| row.len() != self.fields.len()) {
            return Err(broken("a row has another number of cells than there are columns"));
        }
        if self.fields.is_empty() {
            return Ok(Rows { affected: self.row_count.unwrap_or(0), ..Rows::default() });
        }
        let kinds: Vec<Kind> = self.fields.iter().map(|field| Kind::of(field.oid)).collect();
        let (mut rows, mut bytes) = (Vec::with_capacity(self.rows.len()), 0);
        for row in self.rows {
            bytes += row.iter().flatten().map(|Text(text)| text.len()).sum::<usize>();
            if let Some(what) = limits::exceeded(query, rows.len(), bytes) {
                return Err(limits::too_large(what, query));
            }
            let cell = |(kind, cell): (&Kind, Option<Text<'_>>)| cell.map_or(Value::Null, |Text(text)| kind.value(text.as_bytes()));
            rows.push(kinds.iter().zip(row).map(cell).collect());
        }
        let columns = unique_names(self.fields.iter().map(|field| &*field.name)).into();
        Ok(Rows { columns, rows, affected: 0 })
    }
}

/// The answer of the last statement of a batch of so many. `host` is the database's.
///
/// # Errors
/// What the API or PostgreSQL said, and what that means for another attempt.
pub(super) fn last<'a>(response: &'a HttpResponse, count: usize, host: &str, read_only: bool) -> Result<StepReply<'a>, Refusal> {
    if response.status != 200 {
        return Err(of_status(response, host, read_only));
    }
    let batch: BatchReply<'_> = serde_json::from_slice(&response.body).map_err(|error| {
        // Its words may quote a value; its place does not.
        broken(&format!("{:?} error at line {}, column {}", error.classify(), error.line(), error.column()))
    })?;
    let mut results = batch.results;
    match results.pop() {
        Some(last) if results.len() + 1 == count => Ok(last),
        _ => Err(broken("another number of results than there are statements").into()),
    }
}

fn of_status(response: &HttpResponse, host: &str, read_only: bool) -> Refusal {
    let status = response.status;
    let reply: Option<ErrorReply> = serde_json::from_slice(&response.body).ok();
    if let (400 | 500, Some(reply)) = (status, reply) {
        let words = reply.message.unwrap_or_default();
        let Some(code) = reply.code.filter(|code| !code.is_empty()) else { return of_proxy(status, &words, host).into() };
        let said = ServerError {
            is_fatal: reply.severity.is_some_and(|severity| matches!(severity.as_str(), "FATAL" | "PANIC")),
            code,
            words,
            detail: reply.detail.unwrap_or_default(),
            table: reply.table,
            column: reply.column,
            constraint: reply.constraint,
            routine: reply.routine.unwrap_or_default(),
        };
        // A batch begins with a login, which these are about; no statement ends with one of them.
        let is_of_login = said.code.starts_with("28") || matches!(said.code.as_str(), "3D000" | "53300" | "57P03");
        let failure = if is_of_login { of_login(&said, host) } else { of_statement(&said, read_only) };
        return Refusal { failure, said: Some(said), context: reply.context.unwrap_or_default() };
    }
    let error = |kind, message: &str| {
        Error::new(kind, message).with_source(format!("status {status}: {}", excerpt(&String::from_utf8_lossy(&response.body))))
    };
    let last = |kind, message| StatementFailure::last(error(kind, message));
    match status {
        401 | 403 => last(ErrorKind::Denied, "Neon does not admit this user from here"),
        404 | 405 => last(ErrorKind::Configuration, "there is no SQL API of Neon at the address of the connection string or of `base_url`"),
        300..=399 => last(ErrorKind::Configuration, "the address of the connection string or of `base_url` redirects elsewhere"),
        413 => last(ErrorKind::TooLarge, "the statement and its values are larger than Neon takes"),
        429 => last(ErrorKind::Busy, "Neon takes no more requests for now"),
        503 => StatementFailure::not_executed(error(ErrorKind::Unavailable, "Neon is not available")),
        // The transaction is rolled back before this is said.
        507 => last(ErrorKind::TooLarge, "the result is larger than Neon sends; nothing was changed"),
        500.. => StatementFailure::unknown(error(ErrorKind::Unavailable, "Neon failed")),
        _ => StatementFailure::unknown(error(ErrorKind::Protocol, "Neon answered in an unexpected way")),
    }
    .into()
}

/// An error that is not PostgreSQL's, but of what stands before it.
fn of_proxy(status: u16, words: &str, host: &str) -> StatementFailure {
    let error = |kind, message: String| Error::new(kind, message).with_source(format!("status {status}: {}", excerpt(words)));
    if words.starts_with("password authentication failed") {
        return StatementFailure::last(error(ErrorKind::Denied, format!("PostgreSQL at `{host}` does not accept the password")));
    }
    let is_one_of = |known: &[&str]| known.iter().any(|known| words.contains(known));
    if is_one_of(&NOT_CONNECTED) {
        return StatementFailure::not_executed(error(ErrorKind::Unavailable, format!("Neon could not connect to `{host}`")));
    }
    if is_one_of(&NOT_ADMITTED) {
        return StatementFailure::last(error(
            ErrorKind::Configuration,
            format!("Neon has no database at `{host}` that may be used from here"),
        ));
    }
    // A connection that broke in the middle of the statement among them, which has the status of a wrong statement.
    StatementFailure::unknown(error(ErrorKind::Unavailable, "Neon failed".to_owned()))
}

/// An answer that is none: the statement may have been executed.
fn broken(what: &str) -> StatementFailure {
    StatementFailure::unknown(Error::new(ErrorKind::Protocol, "Neon sent a response that is not understood").with_source(what))
}
