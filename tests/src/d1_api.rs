//! A stand-in for D1's REST API, as its reference and wrangler's local server describe it: texts as
//! parameters, envelopes, values as JavaScript writes them, no column names for a result without
//! rows. Its statements run on SQLite, so what the driver writes into them is really run.

use std::sync::{Mutex, PoisonError};

use millrace_core::Json;
use rusqlite::{Connection, types::ValueRef};
use serde_json::json;

use crate::scripted::{Received, Reply, Scripted};

/// Where the one database is.
pub const PATH: &str = "/client/v4/accounts/0a1b/d1/database/1111-2222/raw";

/// Starts a stand-in with an empty database.
///
/// # Panics
/// Where SQLite gives none.
#[must_use]
pub fn stand_in() -> Scripted {
    let database = Mutex::new(Connection::open_in_memory().unwrap_or_else(|error| panic!("{error}")));
    Scripted::start(move |_, request| {
        let database = database.lock().unwrap_or_else(PoisonError::into_inner);
        let (status, result) = match answer(&database, request) {
            Ok(results) => (200, json!({"success": true, "errors": [], "messages": [], "result": results})),
            Err(message) => (400, json!({"success": false, "errors": [{"code": 7500, "message": message}], "messages": [], "result": []})),
        };
        Reply::Whole(status, "application/json", result.to_string())
    })
}

fn answer(database: &Connection, request: &Received) -> Result<Vec<Json>, String> {
    if request.line != format!("POST {PATH} HTTP/1.1") {
        return Err(format!("no such path: {}", request.line));
    }
    let body: Json = serde_json::from_str(&request.body).map_err(|error| error.to_string())?;
    let Some(batch) = body["batch"].as_array() else { return Ok(vec![one(database, &body)?]) };
    // All of a batch or nothing.
    let transaction = database.unchecked_transaction().map_err(said)?;
    let results = batch.iter().map(|statement| one(database, statement)).collect::<Result<_, _>>()?;
    transaction.commit().map_err(said)?;
    Ok(results)
}

fn one(database: &Connection, body: &Json) -> Result<Json, String> {
    let sql = body["sql"].as_str().ok_or("`sql` is not a text")?;
    let params: Vec<&str> = match &body["params"] {
        Json::Null => Vec::new(),
        Json::Array(params) => params.iter().map(|param| param.as_str().ok_or("a parameter is not a text")).collect::<Result<_, _>>()?,
        _ => return Err("`params` is not a list".to_owned()),
    };
    run(database, sql, &params).map_err(said)
}

fn run(database: &Connection, sql: &str, params: &[&str]) -> rusqlite::Result<Json> {
    let mut statement = database.prepare(sql)?;
    let before = database.total_changes();
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut cursor = statement.query(rusqlite::params_from_iter(params))?;
    let mut rows = Vec::new();
    while let Some(row) = cursor.next()? {
        let cells = (0..columns.len()).map(|index| row.get_ref(index).map(as_javascript)).collect::<rusqlite::Result<Vec<_>>>()?;
        rows.push(Json::Array(cells));
    }
    drop(cursor);
    let columns = if rows.is_empty() { Vec::new() } else { columns };
    let changes = database.total_changes() - before;
    Ok(json!({"results": {"columns": columns, "rows": rows}, "success": true, "meta": {"changed_db": changes > 0, "changes": changes}}))
}

/// A value as it is after it was a number of JavaScript.
fn as_javascript(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(value) => json!(value as f64 as i64),
        ValueRef::Real(value) if value.fract() == 0.0 && value.abs() < 1e21 => json!(value as i64),
        ValueRef::Real(value) => json!(value),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json!(bytes),
    }
}

fn said(error: rusqlite::Error) -> String {
    use rusqlite::ffi;
    match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => format!("{msg} at offset {offset}: SQLITE_ERROR"),
        rusqlite::Error::SqliteFailure(code, text) => {
            let name = match code.extended_code {
                ffi::SQLITE_CONSTRAINT_PRIMARYKEY => "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)",
                other if other & 0xff == ffi::SQLITE_CONSTRAINT => "SQLITE_CONSTRAINT",
                _ => "SQLITE_ERROR",
            };
            format!("{}: {name}", text.unwrap_or_default())
        }
        rusqlite::Error::InvalidParameterCount(..) => "Wrong number of parameter bindings for SQL query.".to_owned(),
        other => other.to_string(),
    }
}
