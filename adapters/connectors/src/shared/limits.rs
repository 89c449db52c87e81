//! The limits of a query, where a whole answer is read before its rows are counted.

use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::Query,
    value::{Rows, Value},
};

use super::Effect;

/// Room for what surrounds the cells of a response, in bytes.
const ENVELOPE_BYTES: usize = 1 << 20;
/// The most bytes that a byte of a cell takes on the wire: an integer counts as 8 and is written
/// with some 49.
const WIRE_BYTES: usize = 6;

/// The longest response that can hold a result within the query's limits.
pub(crate) const fn max_response_bytes(query: &Query<'_>) -> usize {
    query.max_bytes.saturating_mul(WIRE_BYTES).saturating_add(ENVELOPE_BYTES)
}

/// Refuses a statement that writes, or of which nobody said that it reads.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied).
pub(crate) fn only_reads(query: &Query<'_>, effect: Effect) -> Result<()> {
    if effect.reads && query.access == Access::Read {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Denied, "the statement writes, and the adapter is read-only"))
}

/// Holds a result to the query's limits.
///
/// # Errors
/// [`TooLarge`](ErrorKind::TooLarge). Where the statement wrote, it says so: the change is made by
/// then.
pub(crate) fn within_limits(mut rows: Rows, query: &Query<'_>, effect: Effect) -> Result<Rows> {
    if query.cuts() && rows.rows.len() > query.max_rows {
        rows.rows.truncate(query.max_rows);
        rows.truncated = true;
    }
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

fn cell_bytes(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Json(_) | Value::Array(_) => value.size(),
        _ => 8,
    }
}
