//! The records of calls in a database of SQLite.

use millrace_core::{
    Result,
    ports::{CallRecord, RecordedWrite, SWEPT_RECORDS},
    value::Rows,
};
use rusqlite::{Connection, Error, OptionalExtension as _, params};

use super::sqlite_error::{Phase, explain};
use crate::{
    shared::{kept, made_before},
    sqlite_text::call_records::{CREATE_INDEX, CREATE_TABLE, FIND, FORGET, INSERT, SWEEP, failed},
};

/// What an earlier call left, `None` where there is none; then the way is free for [`keep`]. To be called in a transaction that writes,
/// which also makes the table where it is missing.
///
/// # Errors
/// As [`failed`] says.
pub(super) fn find(connection: &Connection, record: CallRecord<'_>) -> Result<Option<RecordedWrite>> {
    let found = match look(connection, record) {
        Err(error) if is_missing(&error) => create(connection).map(|()| None),
        outcome => outcome,
    };
    let found = found.and_then(|found| {
        if found.is_none() {
            connection.prepare_cached(FORGET)?.execute(params![record.key, record.now_s])?;
            connection.prepare_cached(SWEEP)?.execute(params![record.now_s, SWEPT_RECORDS])?;
        }
        Ok(found)
    });
    found.map_err(of_records)
}

/// Keeps the record of a write in the write's own transaction.
///
/// # Errors
/// As [`failed`] says.
pub(super) fn keep(connection: &Connection, record: CallRecord<'_>, rows: &Rows) -> Result<()> {
    let kept = connection.prepare_cached(INSERT).and_then(|mut insert| insert.execute(params![record.key, record.expires_s, kept(rows)]));
    kept.map(drop).map_err(of_records)
}

/// Makes the table where it is missing.
///
/// # Errors
/// As [`failed`] says.
pub(super) fn prepare(connection: &Connection) -> Result<()> {
    let record = CallRecord { key: "", now_s: 0, expires_s: 0 };
    match look(connection, record) {
        Err(error) if is_missing(&error) => create(connection).map_err(of_records),
        outcome => outcome.map(drop).map_err(of_records),
    }
}

fn look(connection: &Connection, record: CallRecord<'_>) -> rusqlite::Result<Option<RecordedWrite>> {
    let mut statement = connection.prepare_cached(FIND)?;
    let found = statement.query_row(params![record.key, record.now_s], |row| {
        let rows = row.get_ref(1)?;
        Ok(made_before(row.get(0)?, rows.as_bytes_or_null()?))
    });
    found.optional()
}

fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(CREATE_TABLE, [])?;
    connection.execute(CREATE_INDEX, [])?;
    Ok(())
}

/// Whether there is no table yet.
fn is_missing(error: &Error) -> bool {
    let (Error::SqliteFailure(_, Some(words)) | Error::SqlInputError { msg: words, .. }) = error else { return false };
    words.starts_with("no such table")
}

fn of_records(error: Error) -> millrace_core::Error {
    failed(explain(error, Phase::Prepare))
}
