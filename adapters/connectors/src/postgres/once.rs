//! A write with its record, in one transaction.
//!
//! Three round trips: the record is put first, without rows, which is where a call with the same key waits for one that still runs; then the
//! statement runs; then its rows go into the record, and all is committed. A connection that breaks before the `COMMIT` was sent has changed
//! nothing, whatever the server is still busy with: the next attempt waits for the end of it at the record's key. After that nobody knows,
//! and the next attempt finds out.

use millrace_core::{
    Error, ErrorKind,
    app::Access,
    ports::{BoundTransaction, CallRecord, Query, RecordedWrite, SWEPT_RECORDS},
    value::{Rows, Value},
};

use super::{
    lists::{Listed, Lists},
    session::{Batch, IDLE, IN_TRANSACTION, Session, Transaction, commands},
    transaction::{self, TIMEOUT, idle_timeouts},
};
use crate::{
    postgres_text::call_records::{
        CHECK_NOW, CREATE_INDEX, CREATE_TABLE, FIND, FORGET, KEEP, OWN_ROLE, PUT, SWEEP, for_record, found as read_record, is_code,
        is_made_by_another, is_missing, of_records, wait_ms,
    },
    shared::{Execution, StatementFailure, kept},
};

/// What is written with the record.
pub(super) enum Write<'a> {
    /// One statement.
    Statement(Batch<'a>),
    /// One statement that is given lists.
    Listed(Listed<'a>),
    /// The steps of a transaction.
    Steps(BoundTransaction<'a>),
}

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
    (write, lists): (&Write<'_>, &Lists<'_>),
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
    let rows = match write {
        Write::Statement(statement) => session.run_within(statement, query, left_ms).await.map_err(StatementFailure::before_the_end)?,
        Write::Listed(listed) => {
            listed.run_within(session, lists, query, listed.settings).await.map_err(StatementFailure::before_the_end)?
        }
        Write::Steps(steps) => transaction::within(session, lists, steps, query).await?,
    };
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
    match session.run(&Batch::of(FIND, &[text("")], Transaction::Implied, query).map_err(StatementFailure::last)?, query, left_ms).await {
        Err(failure) if is_missing(&failure.error) => create(session, query, left_ms).await,
        outcome => outcome.map(drop).map_err(of_records),
    }
}

/// Begins the transaction and puts the record.
async fn put(session: &mut Session, query: &Query<'_>, record: CallRecord<'_>, left_ms: u64) -> Result<Place, StatementFailure> {
    let timeouts = idle_timeouts(wait_ms(left_ms), left_ms);
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
        Err(failure) => Err(failure.before_the_end()),
    }
}

/// What the record says that was there, which ends the transaction.
async fn look(session: &mut Session, query: &Query<'_>, record: CallRecord<'_>, left_ms: u64) -> Result<RecordedWrite, StatementFailure> {
    let batch = Batch::of(FIND, &[text(record.key)], Transaction::Implied, query).map_err(StatementFailure::last)?;
    let found = session.run_within(&batch, &for_record(query), left_ms).await.map_err(StatementFailure::before_the_end)?;
    session.give_up().await.map_err(StatementFailure::before_the_end)?;
    read_record(&found)
}

/// Makes the table and its index.
async fn create(session: &mut Session, query: &Query<'_>, left_ms: u64) -> Result<(), StatementFailure> {
    for statement in [CREATE_TABLE, CREATE_INDEX] {
        let batch = Batch::of(statement, &[], Transaction::Implied, query).map_err(StatementFailure::last)?;
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

/// A failure of the commands that end the transaction.
fn of_commit(failure: StatementFailure) -> StatementFailure {
    if failure.outcome == Execution::Unknown {
        let message = format!("{}; it is not known whether the statement took effect", failure.error.message);
        return StatementFailure::unknown(Error { kind: ErrorKind::Unavailable, message, ..failure.error });
    }
    match failure.error.kind {
        // A constraint that is checked at the end is the author's affair.
        ErrorKind::Constraint | ErrorKind::Data => failure,
        _ => of_records(failure),
    }
}
