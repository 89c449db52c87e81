//! A write with its record, in one transaction.
//!
//! The record is put first, without rows, which is where a call with the same key waits for one that still runs; then the statement runs;
//! then its rows go into the record, and all is committed. A connection that breaks before the `COMMIT` was sent has changed nothing. After
//! that nobody knows, and the next attempt finds out.
//!
//! The record is put before it is looked for: looked for first, one that is not there would lock the gap that it belongs into, and calls with
//! other keys with it.

use millrace_catalogue::call_records::mysql::{CREATE_TABLE, FIND, KEEP, PUT, SWEEP, TAKE};
use millrace_core::{
    Error, ErrorKind,
    ports::{BoundTransaction, CallRecord, Clock, Query, RecordedWrite, SWEPT_RECORDS},
    value::{Rows, Value},
};

use super::{
    server_error::{LOCK_WAIT, NO_TABLE, TABLE_EXISTS, number_of},
    session::{Session, Transaction},
    transaction,
};
use crate::shared::{Execution, ReadOnly, StatementFailure, call_records, kept, made_before, soon, within};

/// How long before the deadline of the call the server gives up waiting for another one with the same key, so that it can say so:
/// a tenth of the time that is left, and in milliseconds at most this.
const SAYS_SO_MS: u64 = 500;
/// The least time that a server waits for a lock, in milliseconds.
const LEAST_WAIT_MS: u64 = 1000;

/// How long a write waits for expired records to be removed, in milliseconds.
const LEAST_SWEEP_MS: u64 = 100;
const MOST_SWEEP_MS: u64 = 500;

/// What is written with the record.
#[derive(Clone, Copy)]
pub(crate) enum Write<'a> {
    /// One statement and its values.
    Statement(&'a str, &'a [Value]),
    /// The steps of a transaction.
    Steps(BoundTransaction<'a>),
}

/// What became of putting the record.
enum Place {
    /// It is there now, and this call's.
    Own,
    /// It was there, and says this.
    Taken(RecordedWrite),
    /// Another call has put it, and has not ended.
    Running,
}

/// Runs a statement in one transaction with its record, unless there is a record. The query is said to read: whatever fails before the end
/// of the transaction has changed nothing.
///
/// # Errors
/// What the server said, and what that means for another attempt.
pub(crate) async fn write_once(
    session: &mut impl Session,
    clock: &dyn Clock,
    write: Write<'_>,
    query: &Query<'_>,
    record: CallRecord<'_>,
) -> Result<RecordedWrite, StatementFailure> {
    let began_ms = clock.now_ms();
    let left_ms = query.deadline_ms.saturating_sub(began_ms);
    let outcome = within_transaction(session, write, query, record, left_ms).await;
    match outcome {
        Ok((rows, true)) => {
            // Whoever else removes them at the same time does it for both. The call is done by then, and waits for it only about as long as
            // for the write; cut off, the connection is not used again.
            let most_ms = clock.now_ms().saturating_sub(began_ms).clamp(LEAST_SWEEP_MS, MOST_SWEEP_MS);
            let expired = [Value::I64(record.now_s), Value::I64(SWEPT_RECORDS.into())];
            let sweep = session.run(SWEEP, &expired, query, Transaction::Implied, left_ms);
            drop(within(clock, soon(clock, query.deadline_ms, most_ms), sweep).await);
            Ok(rows)
        }
        Ok((found, false)) => {
            session.roll_back().await;
            Ok(found)
        }
        Err(failure) => Err(session.undo(failure).await),
    }
}

/// What became of it, and whether it was committed now.
async fn within_transaction(
    session: &mut impl Session,
    write: Write<'_>,
    query: &Query<'_>,
    record: CallRecord<'_>,
    left_ms: u64,
) -> Result<(RecordedWrite, bool), StatementFailure> {
    let mut place = put(session, query, record, left_ms).await;
    if place.as_ref().is_err_and(|failure| number_of(&failure.error) == Some(NO_TABLE)) {
        session.roll_back().await;
        create(session, query, left_ms).await?;
        place = put(session, query, record, left_ms).await;
    }
    match place.map_err(of_records)? {
        Place::Running => return Ok((RecordedWrite::Running, false)),
        Place::Taken(found) => return Ok((found, false)),
        Place::Own => {}
    }
    let rows = match write {
        Write::Statement(text, values) => session.run_step(text, values, query, left_ms).await.map_err(StatementFailure::before_the_end)?,
        Write::Steps(steps) => transaction::within(session, &steps, query, (left_ms, true)).await?,
    };
    let bytes = kept(&rows).map_or(Value::Null, Value::Bytes);
    let keep = session.run(KEEP, &[bytes, key(record)], query, Transaction::Open, left_ms).await;
    keep.map_err(|failure| of_records(failure.before_the_end()))?;
    session.commit().await.map_err(of_commit)?;
    Ok((RecordedWrite::Made(rows), true))
}

/// Makes the table where it is missing.
///
/// # Errors
/// As [`write_once`].
pub(crate) async fn prepare(session: &mut impl Session, query: &Query<'_>, left_ms: u64) -> Result<(), StatementFailure> {
    match session.run(FIND, &[Value::Text(String::new())], query, Transaction::Implied, left_ms).await {
        Err(failure) if number_of(&failure.error) == Some(NO_TABLE) => create(session, query, left_ms).await,
        outcome => outcome.map(drop).map_err(of_records),
    }
}

/// Begins the transaction and puts the record.
async fn put(session: &mut impl Session, query: &Query<'_>, record: CallRecord<'_>, left_ms: u64) -> Result<Place, StatementFailure> {
    let wait_ms = left_ms - (left_ms / 10).min(SAYS_SO_MS);
    // The lock is waited for in whole seconds, and it is to be told before the deadline.
    let wait_ms = if wait_ms < LEAST_WAIT_MS { wait_ms } else { wait_ms / 1000 * 1000 };
    session.begin(wait_ms, false).await?;
    let row = [key(record), Value::I64(record.expires_s)];
    match session.run(PUT, &row, query, Transaction::Open, wait_ms).await {
        Ok(Rows { affected: 0, .. }) => {}
        Ok(_) => return Ok(Place::Own),
        Err(failure) if failure.error.kind == ErrorKind::TimedOut || number_of(&failure.error) == Some(LOCK_WAIT) => {
            return Ok(Place::Running);
        }
        Err(failure) => return Err(failure.before_the_end()),
    }
    let found = session.run(FIND, &[key(record)], query, Transaction::Open, wait_ms).await.map_err(StatementFailure::before_the_end)?;
    match found.rows.first().map(Vec::as_slice) {
        Some([_, _, Value::I64(expires_s)]) if *expires_s <= record.now_s => {
            let row = [Value::I64(record.expires_s), key(record), Value::I64(record.now_s)];
            match session.run(TAKE, &row, query, Transaction::Open, wait_ms).await.map_err(StatementFailure::before_the_end)? {
                Rows { affected: 0, .. } => Err(call_records::removed()),
                _ => Ok(Place::Own),
            }
        }
        Some([affected, rows, _]) => {
            let affected = if let Value::I64(affected) = affected { Some(*affected) } else { None };
            let rows = if let Value::Bytes(rows) = rows { Some(rows.as_slice()) } else { None };
            Ok(Place::Taken(made_before(affected, rows)))
        }
        _ => Err(call_records::removed()),
    }
}

/// Makes the table.
async fn create(session: &mut impl Session, query: &Query<'_>, left_ms: u64) -> Result<(), StatementFailure> {
    match session.run(CREATE_TABLE, &[], query, Transaction::Implied, left_ms).await {
        // Somebody else made it at the same time.
        Err(failure) if number_of(&failure.error) == Some(TABLE_EXISTS) => Ok(()),
        outcome => outcome.map(drop).map_err(of_records),
    }
}

fn key(record: CallRecord<'_>) -> Value {
    Value::Text(record.key.to_owned())
}

/// A failure of a command that the author of the app did not write, and must not be blamed for.
fn of_records(failure: StatementFailure) -> StatementFailure {
    call_records::of_records(failure, CREATE_TABLE)
}

/// A failure of the `COMMIT`.
fn of_commit(failure: StatementFailure) -> StatementFailure {
    match failure.outcome {
        Execution::Unknown => {
            let message = format!("{}; it is not known whether the statement took effect", failure.error.message);
            StatementFailure::unknown(Error { kind: ErrorKind::Unavailable, message, ..failure.error })
        }
        Execution::NotExecuted | Execution::Final => failure,
    }
}

/// Refuses an adapter that only reads, and what a connector cannot set.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied).
pub(crate) fn check(connector: &str, read_only: bool, query: &Query<'_>) -> Result<(), Error> {
    query.without_session(connector)?;
    if read_only { Err(ReadOnly::Adapter.refuse()) } else { Ok(()) }
}
