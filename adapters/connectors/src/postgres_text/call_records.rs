//! The table of the records of calls, in PostgreSQL's SQL, and what its failures mean.

pub(crate) use millrace_catalogue::call_records::postgres::{CREATE_INDEX, CREATE_TABLE, FIND, FORGET, KEEP, PUT, SWEEP};
use millrace_core::{
    Error, ErrorKind,
    ports::{Query, RecordedWrite},
    value::{Rows, Value},
};

use crate::shared::{ReadOnly, StatementFailure, call_records, made_before};

/// Lets the constraints that are checked at the end be checked as the caller.
pub(crate) const CHECK_NOW: &str = "SET CONSTRAINTS ALL IMMEDIATE";
/// Gives back the role of a session.
pub(crate) const OWN_ROLE: &str = "SELECT set_config('role', 'none', true)";

/// How long before the deadline of the call the server gives up waiting for another one with the same key, so that it can say so:
/// a tenth of the time that is left, and in milliseconds at most this.
const SAYS_SO_MS: u64 = 500;

/// The most bytes of a record's cells: rows are kept up to 1 MB, and written with two digits for each byte.
const LARGEST_RECORD: usize = (2 << 20) + 64;

/// How long a call may wait for another one with the same key, in milliseconds.
pub(crate) fn wait_ms(left_ms: u64) -> u64 {
    (left_ms - (left_ms / 10).min(SAYS_SO_MS)).max(1)
}

pub(crate) fn is_code(error: &Error, code: &str) -> bool {
    error.source.as_deref().is_some_and(|source| source.starts_with(code))
}

/// Somebody else makes the same thing at the same time: `IF NOT EXISTS` does not see what has not been committed. Which of the server's
/// catalogues notices it decides about the code: an index that must be unique, the name of the table, that of its row type, or a row that is
/// being updated (which is an internal error).
pub(crate) fn is_made_by_another(error: &Error) -> bool {
    error.kind == ErrorKind::Constraint || ["42P07", "42710", "XX000"].iter().any(|code| is_code(error, code))
}

pub(crate) fn is_missing(error: &Error) -> bool {
    is_code(error, "42P01")
}

/// A query for a record, which may be larger than what the call of a query reads.
pub(crate) fn for_record<'a>(query: &Query<'a>) -> Query<'a> {
    Query { max_rows: 1, max_bytes: LARGEST_RECORD, ..query.clone() }
}

/// What the record says that [`FIND`] found.
///
/// # Errors
/// There is none any more.
pub(crate) fn found(rows: &Rows) -> Result<RecordedWrite, StatementFailure> {
    let Some([affected, rows]) = rows.rows.first().and_then(|cells| cells.first_chunk::<2>()) else {
        return Err(call_records::removed());
    };
    let affected = if let Value::I64(affected) = affected { Some(*affected) } else { None };
    let rows = if let Value::Bytes(rows) = rows { Some(rows.as_slice()) } else { None };
    Ok(made_before(affected, rows))
}

/// A failure of a command that the author of the app did not write, and must not be blamed for.
pub(crate) fn of_records(failure: StatementFailure) -> StatementFailure {
    call_records::of_records(failure, &format!("{CREATE_TABLE};\n{CREATE_INDEX}"))
}

/// Refuses an adapter that only reads.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied).
pub(crate) fn must_write(read_only: bool) -> Result<(), Error> {
    if read_only { Err(ReadOnly::Adapter.refuse()) } else { Ok(()) }
}
