//! The two pure halves: a query → a Hrana request, and the answer → rows.
//!
//! Protocol: <https://github.com/tursodatabase/libsql/blob/main/docs/HRANA_3_SPEC.md>.

mod batch;
mod cell;

use std::borrow::Cow;

use base64::Engine as _;
use millrace_catalogue::LIBSQL;
use millrace_core::{
    Error, ErrorKind, Result,
    headers::Headers,
    ports::{HttpRequest, HttpResponse, Query},
    secret::Secret,
    value::{Rows, Value, unique_names},
};
use serde::{Deserialize, Serialize};

use super::hrana_error::{self, HranaError};
use crate::{
    shared::{StatementFailure, max_response_bytes},
    sqlite_text::SqliteValue,
};
pub(super) use batch::{BatchReply, Condition, Sent, Step, absent, parse_batch, prepare_batch};
use cell::{BASE64, Cell};

/// A version of the protocol over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V2,
    V3,
}

/// The request for one statement: one stream that is closed in the same breath, so nothing of it is
/// left on the server.
///
/// # Errors
/// [`Constraint`](ErrorKind::Constraint) for an infinite number, which the protocol has no form
/// for.
pub(super) fn prepare(base: &str, token: Option<&Secret<String>>, version: Version, query: &Query<'_>) -> Result<HttpRequest> {
    let (text, values) = query.statement(LIBSQL.name)?;
    let statement = Statement::of(text, values)?;
    let pipeline = Pipeline { baton: None, requests: &[Request::Execute { stmt: &statement }, Request::Close] };
    request(base, token, version, &pipeline, query)
}

/// The request for steps of one stream.
fn request<R: Serialize>(
    base: &str,
    token: Option<&Secret<String>>,
    version: Version,
    pipeline: &Pipeline<'_, R>,
    query: &Query<'_>,
) -> Result<HttpRequest> {
    let body = serde_json::to_vec(pipeline).map_err(|error| {
        Error::new(ErrorKind::Protocol, "a request for the libSQL server cannot be written").with_source(error.to_string())
    })?;
    let mut headers = Headers::new();
    headers.append("content-type", "application/json");
    headers.append("accept", "application/json");
    if let Some(token) = token {
        headers.append("authorization", format!("Bearer {}", token.expose()));
    }
    let path = match version {
        Version::V2 => "v2",
        Version::V3 => "v3",
    };
    Ok(HttpRequest {
        method: "POST".to_owned(),
        url: format!("{base}/{path}/pipeline"),
        headers,
        body,
        deadline_ms: query.deadline_ms,
        max_response_bytes: max_response_bytes(query),
        ..HttpRequest::default()
    })
}

/// The request for a description of a statement.
///
/// # Errors
/// Where the query has no statement.
#[cfg(feature = "describe")]
pub(super) fn describe(base: &str, token: Option<&Secret<String>>, version: Version, query: &Query<'_>) -> Result<HttpRequest> {
    let (sql, _) = query.statement(LIBSQL.name)?;
    let pipeline = Pipeline { baton: None, requests: &[Request::Describe { sql }, Request::Close] };
    request(base, token, version, &pipeline, query)
}

/// The unique names and the declared types of the columns in a description.
///
/// # Errors
/// As [`parse`].
#[cfg(feature = "describe")]
pub(super) fn described(response: &HttpResponse) -> Result<Vec<(String, Option<String>)>, StatementFailure> {
    let columns = first::<Description>(response, "")?.0.cols;
    let names = unique_names(columns.iter().map(|column| column.name.as_str()));
    Ok(names.into_iter().zip(columns.iter().map(|column| column.decltype.clone())).collect())
}

/// The rows of an answer to a statement. A baton and a base URL in it are left alone: the stream is
/// closed.
///
/// # Errors
/// What the server said, and what that means for another attempt.
pub(super) fn parse(response: &HttpResponse, statement: &str) -> Result<Rows, StatementFailure> {
    rows_of(first::<StatementResult<'_>>(response, statement)?.0)
}

/// The result of a pipeline's first request, which is about this statement or several, and the
/// baton of a stream that is still open.
fn first<'a, R: Deserialize<'a>>(response: &'a HttpResponse, statement: &str) -> Result<(R, Option<String>), StatementFailure> {
    if response.status != 200 {
        return Err(hrana_error::of_status(response.status, &response.body));
    }
    let answer: PipelineReply<'_, R> = serde_json::from_slice(&response.body).map_err(|error| {
        // Its words may quote a value; its place does not.
        let place = format!("{:?} error at line {}, column {}", error.classify(), error.line(), error.column());
        broken().map_source(place)
    })?;
    let Some(PipelineResult { response, error }) = answer.results.into_iter().next() else { return Err(broken().into()) };
    match (response.and_then(|response| response.result), error) {
        (_, Some(said)) => Err(hrana_error::of_statement(&said.code.unwrap_or_default(), &said.message, statement)),
        (Some(result), None) => Ok((result, answer.baton)),
        (None, None) => Err(broken().into()),
    }
}

fn rows_of(result: StatementResult<'_>) -> Result<Rows, StatementFailure> {
    if result.rows.iter().any(|row| row.len() != result.cols.len()) {
        return Err(broken().into());
    }
    if result.cols.is_empty() {
        return Ok(Rows { affected: result.affected_row_count, ..Rows::default() });
    }
    let columns = unique_names(result.cols.iter().map(|column| column.name.as_deref().unwrap_or_default())).into();
    let rows = result.rows.into_iter().map(|row| row.into_iter().map(|Cell(value)| value).collect()).collect();
    Ok(Rows { columns, rows, ..Rows::default() })
}

fn broken() -> BrokenReply {
    BrokenReply(Error::new(ErrorKind::Protocol, "the libSQL server sent a response that is not understood"))
}

/// A broken answer: the statement may have been executed.
struct BrokenReply(Error);

impl BrokenReply {
    fn map_source(self, source: String) -> StatementFailure {
        StatementFailure::unknown(self.0.with_source(source))
    }
}

impl From<BrokenReply> for StatementFailure {
    fn from(broken: BrokenReply) -> Self {
        Self::unknown(broken.0)
    }
}

#[derive(Serialize)]
struct Pipeline<'a, R> {
    baton: Option<&'a str>,
    requests: &'a [R],
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Request<'a> {
    Execute {
        stmt: &'a Statement<'a>,
    },
    #[cfg(feature = "describe")]
    Describe {
        sql: &'a str,
    },
    Close,
}

#[derive(Serialize)]
struct Statement<'a> {
    sql: &'a str,
    args: Vec<Argument<'a>>,
    want_rows: bool,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Argument<'a> {
    Null,
    Integer { value: String },
    Float { value: f64 },
    Text { value: Cow<'a, str> },
    Blob { base64: String },
}

impl<'a> Statement<'a> {
    fn of(sql: &'a str, values: &'a [Value]) -> Result<Self> {
        Ok(Self { sql, args: values.iter().map(Argument::of).collect::<Result<_>>()?, want_rows: true })
    }
}

impl<'a> Argument<'a> {
    fn of(value: &'a Value) -> Result<Self> {
        Ok(match SqliteValue::in_json(value, "a libSQL server")? {
            SqliteValue::Null => Self::Null,
            SqliteValue::Integer(value) => Self::Integer { value: value.to_string() },
            SqliteValue::Real(value) => Self::Float { value },
            SqliteValue::Text(value) => Self::Text { value },
            SqliteValue::Blob(bytes) => Self::Blob { base64: BASE64.encode(bytes) },
        })
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a, R: Deserialize<'de>"))]
struct PipelineReply<'a, R> {
    baton: Option<String>,
    results: Vec<PipelineResult<'a, R>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a, R: Deserialize<'de>"))]
struct PipelineResult<'a, R> {
    response: Option<Response<R>>,
    #[serde(borrow)]
    error: Option<HranaError<'a>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "R: Deserialize<'de>"))]
struct Response<R> {
    result: Option<R>,
}

#[derive(Deserialize)]
struct StatementResult<'a> {
    #[serde(borrow)]
    cols: Vec<Column<'a>>,
    rows: Vec<Vec<Cell>>,
    affected_row_count: u64,
}

#[cfg(feature = "describe")]
#[derive(Deserialize)]
struct Description {
    cols: Vec<DescribedColumn>,
}

#[cfg(feature = "describe")]
#[derive(Deserialize)]
struct DescribedColumn {
    name: String,
    decltype: Option<String>,
}

#[derive(Deserialize)]
struct Column<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests;
