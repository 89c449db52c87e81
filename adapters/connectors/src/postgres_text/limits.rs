//! When a result is too large. Cells are counted as PostgreSQL writes them.

use millrace_core::{Error, ErrorKind, ports::Query};

use crate::shared::StatementFailure;

/// What is too large about a result that has so many rows before its next one, and so many bytes with it.
pub(crate) fn exceeded(query: &Query<'_>, rows_before: usize, bytes: usize) -> Option<String> {
    if rows_before >= query.max_rows {
        Some(format!("the result has more than `max_rows`, {} rows", query.max_rows))
    } else if bytes > query.max_bytes {
        Some(too_many_bytes(query))
    } else {
        None
    }
}

/// A result that was too large, after the statement has ended.
pub(crate) fn too_large(what: String, query: &Query<'_>) -> StatementFailure {
    let message = if query.access.reads() { what } else { format!("{what}; the statement took effect") };
    StatementFailure::last(Error::new(ErrorKind::TooLarge, message))
}

/// A result that was not read to its end.
pub(crate) fn broken_off(query: &Query<'_>) -> StatementFailure {
    let what = too_many_bytes(query);
    let message = if query.access.reads() { what } else { format!("{what}; it is not known whether the statement took effect") };
    StatementFailure::last(Error::new(ErrorKind::TooLarge, message))
}

fn too_many_bytes(query: &Query<'_>) -> String {
    format!("the result has more than {} bytes", query.max_bytes)
}
