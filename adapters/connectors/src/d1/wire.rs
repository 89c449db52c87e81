//! The two pure halves: a query → a request, and the answer → rows.

mod cell;

use std::{borrow::Cow, fmt::Write as _};

use millrace_core::{
    Error, ErrorKind, Result,
    headers::Headers,
    ports::{HttpRequest, HttpResponse, Query},
    value::{Rows, Value, unique_names},
};
use serde::{Deserialize, Serialize};

use super::{address::Address, failure};
use crate::{
    d1_binding::answer::exact,
    json_text,
    remote::{Effect, Failure, max_response_bytes, with_parameters},
};
use cell::Cell;

/// The request for one statement.
///
/// # Errors
/// [`Constraint`](ErrorKind::Constraint) for an infinite number, which JSON has no form for; [`Syntax`](ErrorKind::Syntax) for a parameter
/// with a name.
pub(super) fn prepare(address: &Address, query: &Query<'_>) -> Result<HttpRequest> {
    let params = query.params.iter().map(Parameter::of).collect::<Result<Vec<_>>>()?;
    let sql = with_parameters(query.text, |number, text| match params.get(number.checked_sub(1)?)?.form {
        Form::Text => None,
        Form::Json => Some(format!("json_extract({text}, '$')")),
        Form::Hex => Some(format!("unhex({text})")),
    })?;
    let params = params.into_iter().map(|param| param.text).collect();
    let body = serde_json::to_vec(&Statement { sql, params })
        .map_err(|error| Error::new(ErrorKind::Protocol, "a request for D1 cannot be written").with_source(error.to_string()))?;
    let mut headers = Headers::new();
    headers.append("content-type", "application/json");
    headers.append("accept", "application/json");
    headers.append("authorization", format!("Bearer {}", address.token.expose()));
    Ok(HttpRequest {
        method: "POST".to_owned(),
        url: address.url.clone(),
        headers,
        body,
        deadline_ms: query.deadline_ms,
        max_response_bytes: max_response_bytes(query),
    })
}

/// The rows of an answer.
///
/// # Errors
/// What the API said, and what that means for another attempt.
pub(super) fn parse(response: &HttpResponse, effect: Effect) -> Result<Rows, Failure> {
    if response.status != 200 {
        return Err(failure::of_answer(response.status, &response.body));
    }
    let broken = || Error::new(ErrorKind::Protocol, "D1 gave an answer that is not understood");
    let envelope: Envelope<'_> = serde_json::from_slice(&response.body).map_err(|error| {
        // A failure has another shape. Serde's words may quote a value; its place does not.
        let place = format!("{:?} error at line {}, column {}", error.classify(), error.line(), error.column());
        failure::inside(&response.body).unwrap_or_else(|| Failure::unknown(broken().with_source(place)))
    })?;
    let mut results = envelope.result.into_iter().flatten();
    let (true, Some(result), None) = (envelope.success, results.next(), results.next()) else {
        return Err(failure::inside(&response.body).unwrap_or_else(|| Failure::unknown(broken())));
    };
    let Table { columns, rows } = result.results;
    if rows.iter().any(|row| row.len() != columns.len()) {
        return Err(Failure::unknown(broken()));
    }
    if columns.is_empty() && !effect.returns {
        let affected = result.meta.and_then(|meta| meta.changes).unwrap_or_default();
        return Ok(Rows { affected, ..Rows::default() });
    }
    // A result without rows may come without the names of its columns, and is a list all the same.
    let names = if columns.is_empty() { vec![String::new()] } else { unique_names(columns.iter().map(AsRef::as_ref)) };
    let row = |row: Vec<Cell>| row.into_iter().zip(&columns).map(|(Cell(value), column)| exact(value, column, !effect.reads)).collect();
    let rows = rows.into_iter().map(row).collect::<Result<_>>().map_err(Failure::last)?;
    Ok(Rows { columns: names.into(), rows, affected: 0 })
}

#[derive(Serialize)]
struct Statement<'a> {
    sql: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    params: Vec<Cow<'a, str>>,
}

/// A value as text, and how SQL turns it back.
#[derive(Debug, PartialEq)]
struct Parameter<'a> {
    text: Cow<'a, str>,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Hex,
}

impl<'a> Parameter<'a> {
    fn of(value: &'a Value) -> Result<Self> {
        let text = |text: String| Self { text: Cow::Owned(text), form: Form::Text };
        let json = |text: String| Self { text: Cow::Owned(text), form: Form::Json };
        Ok(match value {
            Value::Null => json("null".to_owned()),
            Value::Bool(value) => json(u8::from(*value).to_string()),
            Value::I64(value) => json(value.to_string()),
            Value::U64(value) if i64::try_from(*value).is_ok() => json(value.to_string()),
            Value::U64(value) => text(value.to_string()),
            Value::F64(value) if value.is_nan() => json("null".to_owned()),
            Value::F64(value) if value.is_infinite() => {
                return Err(Error::new(ErrorKind::Constraint, "an infinite number cannot be sent to D1"));
            }
            // With its point or its exponent it stays a real.
            Value::F64(value) => json(format!("{value:?}")),
            Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Self { text: Cow::Borrowed(text), form: Form::Text },
            Value::Bytes(bytes) => Self { text: Cow::Owned(hex(bytes)), form: Form::Hex },
            Value::Json(json) => text(json.to_string()),
            Value::Array(elements) => text(json_text::of_array(elements)),
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[derive(Deserialize)]
struct Envelope<'a> {
    success: bool,
    #[serde(borrow)]
    result: Option<Vec<StatementResult<'a>>>,
}

#[derive(Deserialize)]
struct StatementResult<'a> {
    #[serde(borrow)]
    results: Table<'a>,
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Table<'a> {
    #[serde(borrow)]
    columns: Vec<Cow<'a, str>>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Deserialize)]
struct Meta {
    changes: Option<u64>,
}

#[cfg(test)]
mod tests;
