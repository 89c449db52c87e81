//! A response → the answers of a batch's statements, or why there are none.

use millrace_core::{
    Error, ErrorKind, Json,
    ports::{HttpResponse, Query},
    value::{Rows, Value, unique_names},
};

use crate::{
    postgres_text::{Kind, Oid, ServerError, of_login, of_statement, types::UnclearColumns},
    shared::{ReadOnly, RowSink, StatementFailure, excerpt},
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

/// The most columns of a result, `MaxTupleAttributeNumber`.
const MAX_COLUMNS: usize = 1_664;

/// A batch that failed.
pub(crate) struct Refusal {
    pub(super) failure: StatementFailure,
    /// What PostgreSQL said of one of the statements; nothing where it was the login that failed,
    /// or the API.
    pub(super) said: Option<Box<ServerError>>,
    /// What it was doing when it failed.
    pub(super) context: String,
}

impl From<StatementFailure> for Refusal {
    fn from(failure: StatementFailure) -> Self {
        Self { failure, said: None, context: String::new() }
    }
}

impl From<Refusal> for StatementFailure {
    fn from(refusal: Refusal) -> Self {
        refusal.failure
    }
}

/// The rows of a statement's answer, within the query's limits, and those of its columns that may
/// be arrays of types that only the server knows.
///
/// # Errors
/// There are too many of them, or the answer has another form. The statement has been executed.
pub(super) fn rows_of(mut reply: Json, query: &Query<'_>, unclear: &mut UnclearColumns) -> Result<Rows, StatementFailure> {
    let form = || broken("the answer of a statement has another form");
    let mut member = |name: &str| reply.get_mut(name).map(Json::take).unwrap_or_default();
    let (Json::Array(fields), Json::Array(list)) = (member("fields"), member("rows")) else { return Err(form()) };
    if fields.len() > MAX_COLUMNS {
        return Err(broken("a result has more columns than PostgreSQL allows"));
    }
    let column = |field: &Json| Some((field.get("name")?.as_str()?.to_owned(), Oid::try_from(field.get("dataTypeID")?.as_u64()?).ok()?));
    let columns: Vec<(String, Oid)> = fields.iter().map(column).collect::<Option<_>>().ok_or_else(form)?;
    let mut sink = RowSink::of(query);
    for row in list {
        let Json::Array(cells) = row else { return Err(form()) };
        if cells.len() != columns.len() {
            return Err(broken("a row has another number of cells than there are columns"));
        }
        let (mut values, mut bytes) = (Vec::with_capacity(cells.len()), 0);
        for ((at, (_, oid)), cell) in columns.iter().enumerate().zip(cells) {
            values.push(match cell {
                Json::Null => Value::Null,
                Json::String(text) => {
                    bytes += text.len();
                    unclear.look(at, *oid, text.as_bytes());
                    Kind::of(*oid).value(text.as_bytes())
                }
                _ => return Err(form()),
            });
        }
        if sink.admits(bytes) {
            sink.push(values);
        }
    }
    if columns.is_empty() {
        return Ok(Rows { affected: reply["rowCount"].as_u64().unwrap_or(0), ..Rows::default() });
    }
    sink.into_rows(unique_names(columns.iter().map(|(name, _)| name.as_str())).into())
}

/// The answers of a batch of so many statements. `host` is the database's.
///
/// # Errors
/// What the API or PostgreSQL said, and what that means for another attempt.
pub(super) fn all(response: &HttpResponse, count: usize, host: &str, read_only: ReadOnly) -> Result<Vec<Json>, Refusal> {
    // What is not JSON has no members.
    let mut body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    if response.status != 200 {
        return Err(of_status(response, &body, host, read_only));
    }
    match body.get_mut("results").map(Json::take) {
        Some(Json::Array(results)) if results.len() == count => Ok(results),
        Some(Json::Array(_)) => Err(broken("another number of results than there are statements").into()),
        _ => Err(broken("the answer of a batch has another form").into()),
    }
}

fn of_status(response: &HttpResponse, body: &Json, host: &str, read_only: ReadOnly) -> Refusal {
    let status = response.status;
    let member = |name: &str| body.get(name).and_then(Json::as_str).map(str::to_owned);
    if matches!(status, 400 | 500) && body.is_object() {
        let words = member("message").unwrap_or_default();
        // What is not PostgreSQL's has no code.
        let Some(code) = member("code").filter(|code| !code.is_empty()) else { return of_proxy(status, &words, host).into() };
        let said = ServerError {
            is_fatal: matches!(member("severity").as_deref(), Some("FATAL" | "PANIC")),
            code,
            words,
            detail: member("detail").unwrap_or_default(),
            table: member("table"),
            column: member("column"),
            constraint: member("constraint"),
            routine: member("routine").unwrap_or_default(),
        };
        // A batch begins with a login. The status tells the two apart; a code does not, because a
        // function may end with any.
        if status == 500 {
            return of_login(&said, &format!("`{host}`")).into();
        }
        let failure = of_statement(&said, read_only);
        return Refusal { failure, said: Some(Box::new(said)), context: member("where").unwrap_or_default() };
    }
    if status == 503
        && let Some(words) = member("message").filter(|words| has_one_of(words, &NOT_CONNECTED))
    {
        return of_proxy(status, &words, host).into();
    }
    let error = |kind, message: &str| {
        Error::new(kind, message).with_source(format!("status {status}: {}", excerpt(&String::from_utf8_lossy(&response.body))))
    };
    let last = |kind, message| StatementFailure::last(error(kind, message));
    match status {
        401 | 403 => last(ErrorKind::Denied, "Neon does not admit this user from here"),
        404 | 405 => {
            last(ErrorKind::Configuration, "Neon's SQL API was not found at the address of the connection string or of `base_url`")
        }
        300..=399 => last(ErrorKind::Configuration, "the address of the connection string or of `base_url` redirects elsewhere"),
        413 => last(ErrorKind::TooLarge, "the statement and its values are larger than Neon takes"),
        429 => last(ErrorKind::Busy, "Neon takes no more requests for now"),
        // A gateway says this of an answer that it did not get, too.
        503 => StatementFailure::unknown(error(ErrorKind::Unavailable, "Neon is not available")),
        // The transaction is rolled back before this is said.
        507 => last(ErrorKind::TooLarge, "the result is larger than Neon sends; nothing was changed"),
        500.. => StatementFailure::unknown(error(ErrorKind::Unavailable, "Neon failed")),
        _ => StatementFailure::unknown(error(ErrorKind::Protocol, "Neon answered in an unexpected way")),
    }
    .into()
}

/// An error that is not PostgreSQL's, but of what stands before it.
fn of_proxy(status: u16, words: &str, host: &str) -> StatementFailure {
    let error = |kind, message: &str| {
        Error::new(kind, message).with_source(format!("status {status}: {}", excerpt(words))).at(&format!("`{host}`"))
    };
    if words.starts_with("password authentication failed") {
        return StatementFailure::last(error(ErrorKind::Credentials, "PostgreSQL does not accept the password"));
    }
    if has_one_of(words, &NOT_CONNECTED) {
        return StatementFailure::not_executed(error(ErrorKind::Unavailable, "Neon could not connect to the database"));
    }
    if has_one_of(words, &NOT_ADMITTED) {
        return StatementFailure::last(error(
            ErrorKind::Configuration,
            "Neon has no database at the address of the connection string that may be used from here",
        ));
    }
    // A connection that broke in the middle of the statement among them, which has the status of a
    // wrong statement.
    StatementFailure::unknown(error(ErrorKind::Unavailable, "Neon failed"))
}

fn has_one_of(words: &str, known: &[&str]) -> bool {
    known.iter().any(|known| words.contains(known))
}

/// An answer that is none: the statement may have been executed.
fn broken(what: &str) -> StatementFailure {
    StatementFailure::unknown(Error::new(ErrorKind::Protocol, "Neon sent a response that is not understood").with_source(what))
}
