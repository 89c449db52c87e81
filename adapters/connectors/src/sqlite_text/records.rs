//! The table of the records of calls, in SQLite's SQL, for every driver of the dialect.
//!
//! Times are seconds since the Unix epoch.

use millrace_core::{
    ports::CALL_RECORDS,
    value::{Rows, Value},
};

use crate::shared::{
    StatementFailure, UNTRUSTED,
    records::{
        Field::{self, Expires, Key, Most, Now},
        RecordStatement, Records, wait_ms,
    },
};

/// Makes the table. `affected` is what a statement without rows changed, for a driver whose batch
/// cannot hold the result as bytes.
const CREATE_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS millrace_calls (key TEXT NOT NULL PRIMARY KEY, expires_at INTEGER NOT NULL, affected INTEGER, rows BLOB)";
/// Makes the index by which expired records are found.
const CREATE_INDEX: &str = "CREATE INDEX IF NOT EXISTS millrace_calls_expires_at ON millrace_calls (expires_at)";

/// What is kept of a call: how many rows it changed, and those that it returned.
const FIND: RecordStatement =
    RecordStatement { text: "SELECT affected, rows FROM millrace_calls WHERE key = ?1 AND expires_at > ?2", fields: &[Key, Now] };
/// Removes the expired record of a key.
pub(crate) const FORGET: RecordStatement =
    RecordStatement { text: "DELETE FROM millrace_calls WHERE key = ?1 AND expires_at <= ?2", fields: &[Key, Now] };
/// Keeps a record; fails where there is one.
pub(crate) const INSERT: RecordStatement = RecordStatement {
    text: "INSERT INTO millrace_calls (key, expires_at, rows) VALUES (?1, ?2, ?3)",
    fields: &[Key, Expires, Field::Rows],
};
/// Notes how many rows the statement before changed, and returns the number; the same of a
/// statement of which SQLite counts none.
pub(crate) const COUNT: RecordStatement =
    RecordStatement { text: "UPDATE millrace_calls SET affected = changes() WHERE key = ?1 RETURNING affected", fields: &[Key] };
pub(crate) const COUNT_NONE: RecordStatement =
    RecordStatement { text: "UPDATE millrace_calls SET affected = 0 WHERE key = ?1 RETURNING affected", fields: &[Key] };

/// What is done with it.
pub(crate) const RECORDS: Records = Records {
    makes: &[CREATE_TABLE, CREATE_INDEX],
    puts: &[
        FORGET,
        RecordStatement {
            text: "INSERT INTO millrace_calls (key, expires_at) VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING",
            fields: &[Key, Expires],
        },
    ],
    find: FIND,
    probe: FIND,
    take: None,
    keep: RecordStatement { text: "UPDATE millrace_calls SET rows = ?2 WHERE key = ?1", fields: &[Key, Field::Rows] },
    // The oldest first.
    sweep: RecordStatement {
        text: "DELETE FROM millrace_calls WHERE key IN (SELECT key FROM millrace_calls WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
        fields: &[Now, Most],
    },
    sweeps_within: true,
    ends_session: &[],
    largest: usize::MAX,
    wait_ms,
    // What a server answers instead of running anything, or what the way to it says, is not of the
    // table.
    is_said: |error| {
        let source = error.source.as_deref().unwrap_or_default();
        !source.starts_with("status ") && error.message != UNTRUSTED
    },
    is_missing: |error| error.source.as_deref().is_some_and(|words| words.contains("no such table") && words.contains(CALL_RECORDS)),
    // `IF NOT EXISTS` sees all that is there: a write waits for another one.
    is_made_by_another: |_| false,
    is_running: |_| false,
};

/// Whether a server says that there is no table yet.
pub(crate) fn of_no_table(failure: &StatementFailure) -> bool {
    (RECORDS.is_missing)(&failure.error)
}

/// The number of [`COUNT`], as the result of the write.
pub(crate) fn counted(rows: &Rows) -> Rows {
    let affected = rows.rows.first().and_then(|row| row.first());
    let affected = if let Some(Value::I64(affected)) = affected { *affected } else { 0 };
    Rows { affected: affected.try_into().unwrap_or_default(), ..Rows::default() }
}
