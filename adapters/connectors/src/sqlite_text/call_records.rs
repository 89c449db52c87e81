//! The table of the records of calls, in SQLite's SQL, for every driver of the dialect.
//!
//! Each text has its parameters as its constant says. Times are seconds since the Unix epoch.

use millrace_core::{
    Error, ErrorKind,
    ports::{CALL_RECORDS, CallRecord, RecordedWrite, SWEPT_RECORDS},
    value::{Rows, Value},
};

use crate::shared::{StatementFailure, made_before};

/// Makes the table. `affected` is what a statement without rows changed, for a driver whose batch cannot hold the result as bytes.
pub(crate) const CREATE_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS millrace_calls (key TEXT NOT NULL PRIMARY KEY, expires_at INTEGER NOT NULL, affected INTEGER, rows BLOB)";
/// Makes the index by which expired records are found.
pub(crate) const CREATE_INDEX: &str = "CREATE INDEX IF NOT EXISTS millrace_calls_expires_at ON millrace_calls (expires_at)";
/// What is kept of a call: `affected` and `rows`. `?1` is the key, `?2` the time now.
pub(crate) const FIND: &str = "SELECT affected, rows FROM millrace_calls WHERE key = ?1 AND expires_at > ?2";
/// Removes the expired record of a key. `?1` is the key, `?2` the time now.
pub(crate) const FORGET: &str = "DELETE FROM millrace_calls WHERE key = ?1 AND expires_at <= ?2";
/// Removes expired records, the oldest first. `?1` is the time now, `?2` the most of them.
pub(crate) const SWEEP: &str =
    "DELETE FROM millrace_calls WHERE key IN (SELECT key FROM millrace_calls WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
/// Keeps a record; fails where there is one. `?1` is the key, `?2` when it expires, `?3` the rows as bytes or `NULL`.
pub(crate) const INSERT: &str = "INSERT INTO millrace_calls (key, expires_at, rows) VALUES (?1, ?2, ?3)";

/// Notes how many rows the statement before changed, and returns the number; the same of a statement of which SQLite counts none. `?1` is
/// the key.
pub(crate) const COUNT: &str = "UPDATE millrace_calls SET affected = changes() WHERE key = ?1 RETURNING affected";
pub(crate) const COUNT_NONE: &str = "UPDATE millrace_calls SET affected = 0 WHERE key = ?1 RETURNING affected";
/// Notes the rows of a write that returned some. `?1` is the key, `?2` the rows as bytes or `NULL`.
pub(crate) const STORE: &str = "UPDATE millrace_calls SET rows = ?2 WHERE key = ?1";

/// Whether a server says that there is no table yet.
pub(crate) fn of_no_table(failure: &StatementFailure) -> bool {
    failure.error.source.as_deref().is_some_and(|words| words.contains("no such table") && words.contains(CALL_RECORDS))
}

/// The failure of one of these texts on a server.
pub(crate) fn of_records(failure: StatementFailure) -> StatementFailure {
    StatementFailure { error: failed(failure.error), outcome: failure.outcome }
}

/// The values of [`INSERT`], of [`FIND`] and [`FORGET`], and of [`SWEEP`].
pub(crate) fn values(record: CallRecord<'_>) -> ([Value; 3], [Value; 2], [Value; 2]) {
    let key = || Value::Text(record.key.to_owned());
    (
        [key(), Value::I64(record.expires_s), Value::Null],
        [key(), Value::I64(record.now_s)],
        [Value::I64(record.now_s), Value::I64(SWEPT_RECORDS.into())],
    )
}

/// What the row of [`FIND`] says; `None` where there is none.
pub(crate) fn found(rows: &Rows) -> Option<RecordedWrite> {
    let [affected, kept] = rows.rows.first()?.as_slice() else { return None };
    let affected = if let Value::I64(affected) = affected { Some(*affected) } else { None };
    Some(made_before(affected, if let Value::Bytes(kept) = kept { Some(kept.as_slice()) } else { None }))
}

/// The number of [`COUNT`], as the result of the write.
pub(crate) fn counted(rows: &Rows) -> Rows {
    let affected = rows.rows.first().and_then(|row| row.first());
    let affected = if let Some(Value::I64(affected)) = affected { *affected } else { 0 };
    Rows { affected: affected.try_into().unwrap_or_default(), ..Rows::default() }
}

/// What an operator runs where the driver cannot make the table.
pub(crate) fn to_create() -> String {
    format!("{CREATE_TABLE};\n{CREATE_INDEX};")
}

/// An error of one of these texts. The author of the app wrote none of them, and must not be blamed for them.
pub(crate) fn failed(error: Error) -> Error {
    match error.kind {
        ErrorKind::Syntax | ErrorKind::Constraint | ErrorKind::Data => {
            let message =
                "the table `millrace_calls`, which tools with `idempotency` need, does not have the columns that Millrace made it with";
            Error { kind: ErrorKind::Configuration, message: message.to_owned(), ..error }
        }
        ErrorKind::Denied => {
            let message = "the table `millrace_calls`, which tools with `idempotency` need, cannot be made or written";
            let source = error.source.map_or_else(to_create, |source| format!("{source}; the table is made by: {}", to_create()));
            Error { kind: ErrorKind::Configuration, message: message.to_owned(), source: Some(source) }
        }
        _ => error,
    }
}
