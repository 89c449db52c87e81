//! A write with its record, in one transaction.
//!
//! Three round trips: the record is put first, without rows, which is where a call with the same key waits for one that still runs; then the
//! statement runs; then its rows go into the record, and all is committed. A connection that breaks before the `COMMIT` was sent has changed
//! nothing, whatever the server is still busy with: the next attempt waits for the end of it at the record's key. After that nobody knows,
//! and the next attempt finds out.

use millrace_catalogue::POSTGRES;
use millrace_core::{
    Error, ErrorKind,
    app::Access,
    ports::{CallRecord, Query, RecordedWrite, SWEPT_RECORDS},
    value::{Rows, Value},
};

use super::session::{Batch, IDLE, IN_TRANSACTION, Session, Transaction, commands};
use crate::shared::{Execution, StatementFailure, kept, made_before};

/// Makes the table. `affected` is there for the drivers of other databases: here, `rows` has all of it.
const CREATE_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS millrace_calls (key text PRIMARY KEY, expires_at bigint NOT NULL, affected bigint, rows bytea)";
/// Makes the index by which expired records are found.
const CREATE_INDEX: &str = "CREATE INDEX IF NOT EXISTS millrace_calls_expires_at ON millrace_calls (expires_at)";
const TIMEOUT: &str = "SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)";
/// Lets the constraints that are checked at the end be checked as the caller.
const CHECK_NOW: &str = "SET CONSTRAINTS ALL IMMEDIATE";
/// Gives back the role of a session.
const OWN_ROLE: &str = "SELECT set_config('role', 'none', true)";
const FORGET: &str = "DELETE FROM millrace_calls WHERE key = $1 AND expires_at <= $2";
const PUT: &str = "INSERT INTO millrace_calls (key, expires_at) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
const FIND: &str = "SELECT affected, rows FROM millrace_calls WHERE key = $1";
const KEEP: &str = "UPDATE millrace_calls SET rows = $2 WHERE key = $1";
/// Records that another transaction removes are left to it.
const SWEEP: &str = "DELETE FROM millrace_calls WHERE key IN (SELECT key FROM millrace_calls WHERE expires_at <= $1 ORDER BY expires_at \
                     LIMIT $2 FOR UPDATE SKIP LOCKED)";

/// How long before the deadline of the call the server gives up waiting for another one with the same key, so that it can say so:
/// a tenth of the time that is left, and in milliseconds at most this.
const SAYS_SO_MS: u64 = 500;
/// What an idle transaction may outlive the deadline by, in milliseconds.
const IDLE_MARGIN_MS: u64 = 1000;

/// What became of putting the record.
enum Place {
    /// It is there now, and this call's.
    Own,
    /// It was there.
    Taken,
    /// Another call has put it, and has not ended.
    Running,
}

/// Runs the statement of a batch in one transaction with its record, unless there is a record.
///
/// # Errors
/// What the server said, and what that means for another attempt.
pub(super) async fn write_once(
    session: &mut Session,
    statement: &Batch<'_>,
    query: &Query<'_>,
    record: CallRecord<'_>,
    left_ms: u64,
) -> Result<RecordedWrite, StatementFailure> {
    // Whatever fails before the end of the transaction has changed nothing, as if it only read.
    let query = &Query { access: Access::Read, ..query.clone() };
    let mut place = put(session, query, record, left_ms).await;
    if place.as_ref().is_err_and(|failure| is_missing(&failure.error)) {
        create(session, query, left_ms).await?;
        place = put(session, query, record, left_ms).await;
    }
    match place.map_err(of_records)? {
        Place::Running => return Ok(RecordedWrite::Running),
        Place::Taken => return look(session, query, record, left_ms).await,
        Place::Own => {}
    }
    let rows = session.run_within(statement, query, left_ms).await.map_err(nothing_committed)?;
    let bytes = kept(&rows).map_or(Value::Null, Value::Bytes);
    // The record is the adapter's, not the caller's; and what is checked at the end of the statement's transaction is the caller's still.
    let own_again: &[(&str, &[Value])] = if query.session.is_empty() { &[] } else { &[(CHECK_NOW, &[]), (OWN_ROLE, &[])] };
    let kept = [text(record.key), bytes];
    let swept = [Value::I64(record.now_s), Value::I64(SWEPT_RECORDS.into())];
    let end = [own_again, &[(KEEP, &kept), (SWEEP, &swept), ("COMMIT", &[])]].concat();
    let end = commands(&end);
    let end = end.map_err(StatementFailure::last)?;
    session.step(&end, own_again.len() + 2, query, IDLE).await.map_err(of_commit)?;
    Ok(RecordedWrite::Made(rows))
}

/// Makes the table where it is missing.
///
/// # Errors
/// As [`write_once`].
pub(super) async fn prepare(session: &mut Session, query: &Query<'_>, left_ms: u64) -> Result<(), StatementFailure> {
    match session.run(&Batch::of(FIND, &[text("")], Transaction::Implied).map_err(StatementFailure::last)?, query, left_ms).await {
        Err(failure) if is_missing(&failure.error) => create(session, query, left_ms).await,
        outcome => outcome.map(drop).map_err(of_records),
    }
}

/// Begins the transaction and puts the record.
async fn put(session: &mut Session, query: &Query<'_>, record: CallRecord<'_>, left_ms: u64) -> Result<Place, StatementFailure> {
    let wait_ms = left_ms - (left_ms / 10).min(SAYS_SO_MS);
    let timeouts = [wait_ms.max(1), left_ms.saturating_add(IDLE_MARGIN_MS)].map(|ms| text(&ms.min(i32::MAX as u64).to_string()));
    let begin = commands(&[
        ("BEGIN", &[]),
        (TIMEOUT, &timeouts),
        (FORGET, &[text(record.key), Value::I64(record.now_s)]),
        (PUT, &[text(record.key), Value::I64(record.expires_s)]),
    ]);
    match session.step(&begin.map_err(StatementFailure::last)?, 3, query, IN_TRANSACTION).await {
        Ok(Rows { affected: 0, .. }) => Ok(Place::Taken),
        Ok(_) => Ok(Place::Own),
        Err(failure) if failure.error.kind == ErrorKind::TimedOut || is_code(&failure.error, "55P03") => Ok(Place::Running),
        Err(failure) => Err(nothing_committed(failure)),
    }
}

/// What the record says that was there, which ends the transaction.
async fn look(session: &mut Session, query: &Query<'_>, record: CallRecord<'_>, left_ms: u64) -> Result<RecordedWrite, StatementFailure> {
    let batch = Batch::of(FIND, &[text(record.key)], Transaction::Implied).map_err(StatementFailure::last)?;
    let found = session.run_within(&batch, query, left_ms).await.map_err(nothing_committed)?;
    session.give_up().await.map_err(nothing_committed)?;
    let Some([affected, rows]) = found.rows.first().and_then(|cells| cells.first_chunk::<2>()) else {
        // Whoever wrote another one between has removed it: it had expired.
        let message = "the record of an earlier call was removed concurrently";
        return Err(StatementFailure::not_executed(Error::new(ErrorKind::Busy, message)));
    };
    let affected = if let Value::I64(affected) = affected { Some(*affected) } else { None };
    let rows = if let Value::Bytes(rows) = rows { Some(rows.as_slice()) } else { None };
    Ok(made_before(affected, rows))
}

/// Makes the table and its index.
async fn create(session: &mut Session, query: &Query<'_>, left_ms: u64) -> Result<(), StatementFailure> {
    for statement in [CREATE_TABLE, CREATE_INDEX] {
        let batch = Batch::of(statement, &[], Transaction::Implied).map_err(StatementFailure::last)?;
        match session.run(&batch, query, left_ms).await {
            Err(failure) if is_made_by_another(&failure.error) => {}
            outcome => drop(outcome.map_err(of_records)?),
        }
    }
    Ok(())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn is_code(error: &Error, code: &str) -> bool {
    error.source.as_deref().is_some_and(|source| source.starts_with(code))
}

/// Somebody else makes the same thing at the same time: `IF NOT EXISTS` does not see what has not been committed. Which of the server's
/// catalogues notices it decides about the code: an index that must be unique, the name of the table, that of its row type, or a row that is
/// being updated (which is an internal error).
fn is_made_by_another(error: &Error) -> bool {
    error.kind == ErrorKind::Constraint || ["42P07", "42710", "XX000"].iter().any(|code| is_code(error, code))
}

fn is_missing(error: &Error) -> bool {
    is_code(error, "42P01")
}

/// A failure before the `COMMIT` was sent.
fn nothing_committed(failure: StatementFailure) -> StatementFailure {
    match failure.outcome {
        Execution::Unknown => StatementFailure::not_executed(failure.error),
        Execution::NotExecuted | Execution::Final => failure,
    }
}

/// A failure of a command that the author of the app did not write, and must not be blamed for.
fn of_records(failure: StatementFailure) -> StatementFailure {
    let StatementFailure { error, outcome } = failure;
    let message = match error.kind {
        ErrorKind::Syntax | ErrorKind::Constraint => {
            "the table `millrace_calls`, which tools with `idempotency` need, does not have the columns that Millrace made it with"
        }
        ErrorKind::Denied => "the table `millrace_calls`, which tools with `idempotency` need, cannot be made or written",
        _ => return StatementFailure { error, outcome },
    };
    let words = error.source.unwrap_or_default();
    let source = format!("{words}; the table is made by: {CREATE_TABLE};\n{CREATE_INDEX};");
    StatementFailure::last(Error { kind: ErrorKind::Configuration, message: message.to_owned(), source: Some(source) })
}

/// A failure of the commands that end the transaction.
fn of_commit(failure: StatementFailure) -> StatementFailure {
    if failure.outcome == Execution::Unknown {
        let message = format!("{}; it is not known whether the statement took effect", failure.error.message);
        return StatementFailure::unknown(Error { kind: ErrorKind::Unavailable, message, ..failure.error });
    }
    match failure.error.kind {
        // A constraint that is checked at the end is the author's affair.
        ErrorKind::Constraint => failure,
        _ => of_records(failure),
    }
}

/// Refuses an adapter that only reads.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied).
pub(super) fn check(read_only: bool, query: &Query<'_>) -> Result<(), Error> {
    query.command.statement(POSTGRES.name)?;
    if read_only { Err(Error::new(ErrorKind::Denied, "the statement writes, and the adapter is read-only")) } else { Ok(()) }
}
