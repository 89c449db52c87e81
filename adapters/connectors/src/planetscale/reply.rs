//! A response → the session and the result of a statement, or why there is none.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Error, ErrorKind, Json,
    ports::{HttpResponse, Query},
    value::{Rows, Value, unique_names},
};

use super::{cell::Kind, server_error};
use crate::shared::{ReadOnly, RowSink, StatementFailure, excerpt};

/// The most columns that a table or a result can have.
const MAX_COLUMNS: usize = 4_096;
/// The longest session that is taken along, in bytes.
const MAX_SESSION_BYTES: usize = 1 << 20;
/// What a cell counts besides its bytes, so that one without any is not free.
const CELL: usize = 4;

/// An answer.
pub(super) struct Answer {
    /// For the next statement of the session.
    pub(super) session: Json,
    /// The result of the statement, or what was said of it.
    pub(super) result: Result<Json, StatementFailure>,
}

/// Reads a response.
///
/// # Errors
/// There is no answer in it.
pub(super) fn answer(response: &HttpResponse, read_only: ReadOnly) -> Result<Answer, StatementFailure> {
    // What is not JSON has no members.
    let mut body: Json = serde_json::from_slice(&response.body).unwrap_or_default();
    if response.status != 200 {
        return Err(of_status(response, &body, read_only));
    }
    let mut member = |name: &str| body.get_mut(name).map(Json::take).unwrap_or_default();
    let (session, result, error) = (member("session"), member("result"), member("error"));
    if !error.is_null() {
        let (code, message) = said(&error).ok_or_else(|| broken("an error has another form"))?;
        return Ok(Answer { session, result: Err(server_error::of(code, message, read_only)) });
    }
    // Every answer has one; what has none is no answer, however it reads.
    if !session.is_object() {
        return Err(broken("an answer has no session"));
    }
    if session.to_string().len() > MAX_SESSION_BYTES {
        return Err(broken("a session is too large"));
    }
    Ok(Answer { session, result: Ok(result) })
}

/// Code and message of an error.
fn said(error: &Json) -> Option<(&str, &str)> {
    let code = error.get("code").and_then(Json::as_str).unwrap_or_default();
    Some((code, error.get("message").and_then(Json::as_str)?))
}

fn of_status(response: &HttpResponse, body: &Json, read_only: ReadOnly) -> StatementFailure {
    let status = response.status;
    let error = |kind, message: &str| {
        Error::new(kind, message).with_source(format!("status {status}: {}", excerpt(&String::from_utf8_lossy(&response.body))))
    };
    let last = |kind, message| StatementFailure::last(error(kind, message));
    match status {
        401 | 403 => last(ErrorKind::Credentials, "PlanetScale does not accept the user or the password"),
        // What the API says of a statement.
        400..=499 if let Some((code, message)) = said(body.get("error").unwrap_or(body)) => server_error::of(code, message, read_only),
        404 | 405 => last(ErrorKind::Configuration, "PlanetScale's API was not found at the address of the connection string"),
        300..=399 => last(ErrorKind::Configuration, "the address of the connection string redirects elsewhere"),
        413 => last(ErrorKind::TooLarge, "the statement and its values are larger than PlanetScale takes"),
        429 => last(ErrorKind::Busy, "PlanetScale takes no more requests for now"),
        // What stands before it says this, too, and of an answer that it did not get.
        500.. => StatementFailure::unknown(error(ErrorKind::Unavailable, "PlanetScale failed")),
        _ => StatementFailure::unknown(error(ErrorKind::Protocol, "PlanetScale answered in an unexpected way")),
    }
}

/// The rows of a result, within the query's limits. `named` has the names of the columns as the
/// author may use them.
///
/// # Errors
/// There are too many of them, or the result has another form. The statement has been executed.
pub(super) fn rows_of(mut result: Json, query: &Query<'_>, named: impl Fn(Vec<&str>) -> Vec<String>) -> Result<Rows, StatementFailure> {
    let form = || broken("a result has another form");
    let mut member = |name: &str| result.get_mut(name).map(Json::take).unwrap_or_default();
    let (fields, list, affected) = (member("fields"), member("rows"), member("rowsAffected"));
    // What is empty is left out.
    let as_list = |json: Json| match json {
        Json::Array(list) => Some(list),
        Json::Null => Some(Vec::new()),
        _ => None,
    };
    let (Some(fields), Some(list)) = (as_list(fields), as_list(list)) else { return Err(form()) };
    if fields.is_empty() {
        let affected = match &affected {
            Json::Null => Some(0),
            Json::String(digits) => digits.parse().ok(),
            other => other.as_u64(),
        };
        return Ok(Rows { affected: affected.ok_or_else(form)?, ..Rows::default() });
    }
    if fields.len() > MAX_COLUMNS {
        return Err(broken("a result has more columns than MySQL allows"));
    }
    // A name that is empty is left out, too.
    let names = named(fields.iter().map(|field| field.get("name").and_then(Json::as_str).unwrap_or_default()).collect());
    let kinds: Vec<Kind> = fields.iter().map(Kind::of).collect();
    let mut sink = RowSink::of(query);
    for row in &list {
        let mut bytes = 0;
        let values = cells(row, &kinds, &mut bytes).ok_or_else(form)?;
        if sink.admits(bytes) {
            sink.push(values);
        }
    }
    sink.into_rows(unique_names(names.iter().map(String::as_str)).into())
}

/// The cells of a row: the length of each, -1 for `NULL`, and the bytes of all, one after the
/// other. `None`: it has another form.
fn cells(row: &Json, kinds: &[Kind], bytes: &mut usize) -> Option<Vec<Value>> {
    let lengths = row.get("lengths")?.as_array()?;
    let all = match row.get("values") {
        None | Some(Json::Null) => Vec::new(),
        Some(values) => STANDARD.decode(values.as_str()?).ok()?,
    };
    if lengths.len() != kinds.len() {
        return None;
    }
    let mut rest = all.as_slice();
    let mut values = Vec::with_capacity(kinds.len());
    for (kind, length) in kinds.iter().zip(lengths) {
        let length: i64 = match length {
            Json::String(digits) => digits.parse().ok()?,
            other => other.as_i64()?,
        };
        *bytes = bytes.saturating_add(CELL);
        values.push(match usize::try_from(length) {
            Err(_) => Value::Null,
            Ok(length) => {
                let (cell, after) = rest.split_at_checked(length)?;
                rest = after;
                *bytes = bytes.saturating_add(length);
                kind.value(cell)?
            }
        });
    }
    rest.is_empty().then_some(values)
}

/// An answer that is none: the statement may have been executed.
fn broken(what: &str) -> StatementFailure {
    StatementFailure::unknown(Error::new(ErrorKind::Protocol, "PlanetScale sent a response that is not understood").with_source(what))
}
