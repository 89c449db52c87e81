//! The table of the records of calls, in SQLite's SQL, for every driver of the dialect.
//!
//! Each text has its parameters as its constant says. Times are seconds since the Unix epoch.

use millrace_core::{Error, ErrorKind};

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

/// What an operator runs where the driver cannot make the table.
pub(crate) fn to_create() -> String {
    format!("{CREATE_TABLE};\n{CREATE_INDEX};")
}

/// An error of one of these texts. The author of the app wrote none of them, and must not be blamed for them.
pub(crate) fn failed(error: Error) -> Error {
    match error.kind {
        ErrorKind::Syntax | ErrorKind::Constraint => {
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
