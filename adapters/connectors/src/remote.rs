//! What the drivers share that reach a SQLite far away: what a failure did to the database, and what may be sent again.

mod retry;
pub(crate) mod sqlite_error;
mod statement;

use millrace_core::{
    Error, ErrorKind,
    app::Access,
    ports::Query,
    value::{Rows, Value},
};

pub use retry::{Failure, Outcome, Retry};
pub use statement::Effect;
pub(crate) use statement::{check, with_parameters};

/// Room for what surrounds the cells of a response, in bytes.
const ENVELOPE_BYTES: usize = 1 << 20;
/// The most bytes that a byte of a cell takes on the wire: an integer counts as 8 and is written with some 49.
const WIRE_BYTES: usize = 6;
/// The most characters of an upstream's text that are kept for the log.
const LONGEST_SOURCE: usize = 500;

/// The longest response that can hold a result within the query's limits.
pub(crate) const fn max_response_bytes(query: &Query<'_>) -> usize {
    query.max_bytes.saturating_mul(WIRE_BYTES).saturating_add(ENVELOPE_BYTES)
}

/// Refuses a statement that writes, or of which nobody said that it reads.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied).
pub(crate) fn only_reads(query: &Query<'_>, effect: Effect) -> Result<(), Error> {
    if effect.reads && query.access == Access::Read {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Denied, "the statement writes, and the adapter is read-only"))
}

/// Holds a result to the query's limits.
///
/// # Errors
/// [`TooLarge`](ErrorKind::TooLarge). Where the statement wrote, it says so: the change is made by then.
pub(crate) fn within_limits(rows: Rows, query: &Query<'_>, effect: Effect) -> Result<Rows, Error> {
    let what = if rows.rows.len() > query.max_rows {
        format!("the result has more than `max_rows`, {} rows", query.max_rows)
    } else if rows.rows.iter().flatten().map(cell_bytes).fold(0, usize::saturating_add) > query.max_bytes {
        format!("the result has more than {} bytes", query.max_bytes)
    } else {
        return Ok(rows);
    };
    let message = if effect.reads { what } else { format!("{what}; the statement took effect") };
    Err(Error::new(ErrorKind::TooLarge, message))
}

/// An upstream's own words, short enough for a log line.
pub(crate) fn excerpt(text: &str) -> String {
    text.trim().chars().take(LONGEST_SOURCE).collect()
}

/// A request whose deadline passed before it was sent.
pub(crate) fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "the statement ran past its deadline")
}

const fn cell_bytes(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 8,
    }
}
