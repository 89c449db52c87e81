//! The record of a call that must happen once: what is kept of a write, what a record says, and the
//! write with its record in one transaction of a [`Session`].
//!
//! The record is put first, without rows, which is where a call with the same key waits for one
//! that still runs; then the author's statement or steps run; then what they return goes into the
//! record, and all is committed. A connection that breaks before the `COMMIT` was sent has changed
//! nothing, whatever the server is still busy with: the next attempt waits for the end of it at the
//! record's key. After that nobody knows, and the next attempt finds out.
//!
//! The record is put before it is looked for: looked for first, one that is not there would lock
//! the gap that it belongs into, and calls with other keys with it.

use millrace_core::{
    Error, ErrorKind,
    app::Access,
    ports::{CallRecord, Query, RecordedWrite, SWEPT_RECORDS},
    value::{Rows, Value},
};

#[cfg(any(feature = "databases", feature = "sqlite"))]
use super::{AnySession, Begin, Execution, FailedEnd, soon, transaction, within};
use super::{OwnStatements, Statement, StatementFailure};

/// The largest result that a record keeps, in bytes: what every database takes as one value, and as
/// much as a result has by default.
const LARGEST: usize = 1 << 20;
/// The most bytes of a record's cells: rows, written with two digits for each byte.
const LARGEST_RECORD: usize = 2 * LARGEST + 64;
/// How long before the deadline of the call the server gives up waiting for another one with the
/// same key, so that it can say so: a tenth of the time that is left, and in milliseconds at most
/// this.
const SAYS_SO_MS: u64 = 500;

/// How long a write waits for expired records to be removed, in milliseconds.
#[cfg(any(feature = "databases", feature = "sqlite"))]
const LEAST_SWEEP_MS: u64 = 100;
#[cfg(any(feature = "databases", feature = "sqlite"))]
const MOST_SWEEP_MS: u64 = 500;

/// What a statement about records takes.
#[derive(Clone, Copy)]
pub(crate) enum Field {
    /// The record's key.
    Key,
    /// The time now, in seconds since the Unix epoch.
    Now,
    /// When the record expires.
    Expires,
    /// What the write returned, as bytes, or `NULL`.
    Rows,
    /// How many expired records are removed at once.
    Most,
}

/// A statement about the table of records.
#[derive(Clone, Copy)]
pub(crate) struct RecordStatement {
    /// The statement.
    pub(crate) text: &'static str,
    /// Its values, in the order of its placeholders.
    pub(crate) fields: &'static [Field],
}

/// The statements about the table of records in one language, and what the errors of its servers
/// mean.
#[cfg_attr(not(any(feature = "databases", feature = "sqlite")), allow(dead_code, reason = "drivers without sessions send batches"))]
pub(crate) struct Records {
    /// What makes the table.
    pub(crate) makes: &'static [&'static str],
    /// What puts a record, the last one without an effect where there is one. Waits for another
    /// transaction that has put it.
    pub(crate) puts: &'static [RecordStatement],
    /// What a record says: the rows that a statement changed, those that it returned, and when it
    /// expires where that is not known before.
    pub(crate) find: RecordStatement,
    /// Asks for every column, of no record.
    pub(crate) probe: RecordStatement,
    /// Takes the place of a record that has expired, where `puts` does not remove it.
    pub(crate) take: Option<RecordStatement>,
    /// Stores what the write returned.
    pub(crate) keep: RecordStatement,
    /// Removes expired records.
    pub(crate) sweep: RecordStatement,
    /// They are removed in the transaction of the write: none waits for another one.
    pub(crate) sweeps_within: bool,
    /// Ends what the adapter's session has set, so that the record is the adapter's and not the
    /// caller's. The first one of them is checked as the caller's still.
    pub(crate) ends_session: &'static [&'static str],
    /// The most bytes of rows that are kept.
    pub(crate) largest: usize,
    /// How long the server waits for another call with the same key, where so much time is left.
    pub(crate) wait_ms: fn(u64) -> u64,
    /// The server says it of a statement, and not of the connection or the login.
    pub(crate) is_said: fn(&Error) -> bool,
    /// There is no table.
    pub(crate) is_missing: fn(&Error) -> bool,
    /// Somebody else makes the table at the same time.
    pub(crate) is_made_by_another: fn(&Error) -> bool,
    /// Another call holds the record.
    pub(crate) is_running: fn(&Error) -> bool,
}

impl RecordStatement {
    /// The values for a record; `rows` as its write returned them.
    pub(crate) fn values(&self, record: CallRecord<'_>, rows: &Value) -> Vec<Value> {
        let value = |field: &Field| match field {
            Field::Key => Value::Text(record.key.to_owned()),
            Field::Now => Value::I64(record.now_s),
            Field::Expires => Value::I64(record.expires_s),
            Field::Rows => rows.clone(),
            Field::Most => Value::I64(SWEPT_RECORDS.into()),
        };
        self.fields.iter().map(value).collect()
    }
}

/// The record of no call, for a look at the table.
pub(crate) const NO_RECORD: CallRecord<'static> = CallRecord { key: "", now_s: 0, expires_s: 0 };

/// How long a call may wait for another one with the same key, in milliseconds.
pub(crate) fn wait_ms(left_ms: u64) -> u64 {
    (left_ms - (left_ms / 10).min(SAYS_SO_MS)).max(1)
}

/// A result as a record keeps it; `None` for one that is too large, of which the record then says
/// only that the change was made.
pub(crate) fn kept(rows: &Rows) -> Option<Vec<u8>> {
    rows.to_kept().filter(|bytes| bytes.len() <= LARGEST)
}

/// What a record says of the call that made it, as the first row of a look for it has it: by its
/// rows as bytes, or by how many rows it changed. `None` where there is no record.
pub(crate) fn found(found: &Rows) -> Option<RecordedWrite> {
    let [affected, rows, ..] = found.rows.first()?.as_slice() else { return None };
    // Bytes of another version of Millrace may not be understood. The change was made all the same.
    let rows = match (rows, affected) {
        (Value::Bytes(rows), _) => Rows::from_kept(rows),
        (_, Value::I64(affected)) => Some(Rows { affected: (*affected).try_into().unwrap_or_default(), ..Rows::default() }),
        _ => None,
    };
    Some(rows.map_or(RecordedWrite::MadeBeforeUnknown, RecordedWrite::MadeBefore))
}

/// A query for a record, which may be larger than what the call of a query reads.
pub(crate) fn for_record<'a>(query: &Query<'a>) -> Query<'a> {
    Query { access: Access::Read, max_rows: 1, max_bytes: LARGEST_RECORD, ..query.clone() }
}

/// What is told where the record that was found is gone when it is read: another call has removed
/// it, because it had expired.
pub(crate) fn removed() -> StatementFailure {
    let message = "the record of an earlier call was removed concurrently";
    StatementFailure::not_executed(Error::new(ErrorKind::Busy, message))
}

impl Records {
    /// A failure of a command that the author of the app did not write, and must not be blamed for.
    pub(crate) fn blame(&self, failure: StatementFailure) -> StatementFailure {
        let StatementFailure { error, outcome } = failure;
        let message = match error.kind {
            ErrorKind::Syntax | ErrorKind::Constraint | ErrorKind::Data if (self.is_said)(&error) => {
                "the table `millrace_calls`, which tools with `idempotency` need, does not have the columns that Millrace made it with"
            }
            ErrorKind::Denied if (self.is_said)(&error) => {
                "the table `millrace_calls`, which tools with `idempotency` need, cannot be made or written"
            }
            _ => return StatementFailure { error, outcome },
        };
        let said = error.source.as_deref().unwrap_or_default();
        let source = format!("{said}; the table is made by: {};", self.makes.join(";\n"));
        StatementFailure::last(Error::new(ErrorKind::Configuration, message).with_source(source))
    }
}

/// Makes the table of records where it is missing.
///
/// # Errors
/// As [`create`].
pub(crate) async fn prepare(database: &mut dyn OwnStatements, records: &Records, query: &Query<'_>) -> Result<(), StatementFailure> {
    match ask(database, &records.probe, query, NO_RECORD).await {
        Err(failure) if (records.is_missing)(&failure.error) => create(database, records, query).await,
        outcome => outcome.map(drop).map_err(|failure| records.blame(failure)),
    }
}

/// Asks about the record of a call.
///
/// # Errors
/// What the server said.
pub(crate) async fn ask(
    database: &mut dyn OwnStatements,
    question: &RecordStatement,
    query: &Query<'_>,
    record: CallRecord<'_>,
) -> Result<Rows, StatementFailure> {
    let values = question.values(record, &Value::Null);
    database.run_own(Statement { text: question.text, values: &values }, &for_record(query)).await
}

/// Makes the table.
///
/// # Errors
/// What the server said; nothing of it is the author's.
pub(crate) async fn create(database: &mut dyn OwnStatements, records: &Records, query: &Query<'_>) -> Result<(), StatementFailure> {
    for text in records.makes {
        match database.run_own(Statement { text, values: &[] }, &for_record(query)).await {
            Err(failure) if (records.is_made_by_another)(&failure.error) => {}
            outcome => drop(outcome.map_err(|failure| records.blame(failure))?),
        }
    }
    Ok(())
}

/// What became of putting the record.
#[cfg(any(feature = "databases", feature = "sqlite"))]
enum Place {
    /// It is there now, and this call's.
    Own,
    /// It was there, and says this.
    Taken(RecordedWrite),
    /// Another call has put it, and has not ended.
    Running,
}

/// Runs the command of a query in one transaction with its record, unless there is a record.
///
/// # Errors
/// What the server said, and what that means for another attempt.
#[cfg(any(feature = "databases", feature = "sqlite"))]
pub(crate) async fn write_once(
    session: &mut dyn AnySession,
    records: &Records,
    query: &Query<'_>,
    record: CallRecord<'_>,
) -> Result<RecordedWrite, StatementFailure> {
    // Whatever fails before the end of the transaction has changed nothing, as if it only read.
    let query = &Query { access: Access::Read, ..query.clone() };
    let began_ms = session.clock().now_ms();
    let mut place = put(session, records, query, record).await;
    if place.as_ref().is_err_and(|failure| (records.is_missing)(&failure.error)) {
        session.roll_back().await;
        create(session, records, query).await?;
        place = put(session, records, query, record).await;
    }
    let ended = match place {
        Ok(Place::Own) => write(session, records, query, record).await.map(RecordedWrite::Made),
        Ok(Place::Taken(found)) => {
            session.roll_back().await;
            Ok(found)
        }
        Ok(Place::Running) => {
            session.roll_back().await;
            Ok(RecordedWrite::Running)
        }
        Err(failure) => Err(records.blame(failure)),
    };
    match ended {
        Err(failure) => Err(session.undo(failure).await),
        Ok(made @ RecordedWrite::Made(_)) if !records.sweeps_within => {
            sweep(session, records, query, record, began_ms).await;
            Ok(made)
        }
        ended => ended,
    }
}

/// Removes expired records, where that is not a part of the write: whoever else does so at the same
/// time does it for both. The call is done by then, and waits for it only about as long as for the
/// write; cut off, the connection is not used again.
#[cfg(any(feature = "databases", feature = "sqlite"))]
async fn sweep(session: &mut dyn AnySession, records: &Records, query: &Query<'_>, record: CallRecord<'_>, began_ms: u64) {
    let clock = session.clock();
    let most_ms = clock.now_ms().saturating_sub(began_ms).clamp(LEAST_SWEEP_MS, MOST_SWEEP_MS);
    let values = records.sweep.values(record, &Value::Null);
    let swept = session.run_own(Statement { text: records.sweep.text, values: &values }, query);
    drop(within(&*clock, soon(&*clock, query.deadline_ms, most_ms), swept).await);
}

/// Begins the transaction and puts the record.
#[cfg(any(feature = "databases", feature = "sqlite"))]
async fn put(
    session: &mut dyn AnySession,
    records: &Records,
    query: &Query<'_>,
    record: CallRecord<'_>,
) -> Result<Place, StatementFailure> {
    let left_ms = query.deadline_ms.saturating_sub(session.clock().now_ms());
    let begin = Begin { wait_ms: Some((records.wait_ms)(left_ms)), ..Begin::default() };
    let values: Vec<_> = records.puts.iter().map(|put| put.values(record, &Value::Null)).collect();
    let puts: Vec<_> = records.puts.iter().zip(&values).map(|(put, values)| Statement { text: put.text, values }).collect();
    match session.begin(begin, &puts, query).await {
        Ok(Rows { affected: 0, .. }) => {}
        Ok(_) => return Ok(Place::Own),
        Err(failure) if session.has_begun() && (records.is_running)(&failure.error) => return Ok(Place::Running),
        Err(failure) => return Err(failure.before_the_end()),
    }
    let values = records.find.values(record, &Value::Null);
    let find = session.own_step(Statement { text: records.find.text, values: &values }, &for_record(query)).await;
    let rows = find.map_err(StatementFailure::before_the_end)?;
    let expires_s = rows.rows.first().and_then(|row| row.get(2));
    if let (Some(take), Some(Value::I64(expires_s))) = (&records.take, expires_s)
        && *expires_s <= record.now_s
    {
        let values = take.values(record, &Value::Null);
        let taken = session.own_step(Statement { text: take.text, values: &values }, query).await;
        return match taken.map_err(StatementFailure::before_the_end)? {
            Rows { affected: 0, .. } => Err(removed()),
            _ => Ok(Place::Own),
        };
    }
    found(&rows).map(Place::Taken).ok_or_else(removed)
}

/// Runs the author's command, and stores what it returned.
#[cfg(any(feature = "databases", feature = "sqlite"))]
async fn write(
    session: &mut dyn AnySession,
    records: &Records,
    query: &Query<'_>,
    record: CallRecord<'_>,
) -> Result<Rows, StatementFailure> {
    use millrace_core::ports::Command;

    let rows = match query.command {
        Command::Transaction(steps) => transaction::run_steps(session, &steps, query, true).await?,
        _ => session.step(query, true).await.map_err(StatementFailure::before_the_end)?,
    };
    let bytes = kept(&rows).filter(|bytes| bytes.len() <= records.largest).map_or(Value::Null, Value::Bytes);
    let ends: &[&str] = if query.session.is_empty() { &[] } else { records.ends_session };
    let [keep, sweep] = [&records.keep, &records.sweep].map(|statement| statement.values(record, &bytes));
    let mut own: Vec<_> = ends.iter().map(|text| Statement { text, values: &[] }).collect();
    own.push(Statement { text: records.keep.text, values: &keep });
    if records.sweeps_within {
        own.push(Statement { text: records.sweep.text, values: &sweep });
    }
    match session.commit(&own, query).await {
        Ok(()) => Ok(rows),
        // What is checked at the end of the statement's transaction is its author's affair.
        Err(FailedEnd { place: 0, failure }) if !ends.is_empty() => Err(failure),
        Err(FailedEnd { place, failure }) if place < own.len() => Err(records.blame(failure)),
        Err(FailedEnd { failure, .. }) => Err(of_commit(failure)),
    }
}

/// A failure of the `COMMIT`.
#[cfg(any(feature = "databases", feature = "sqlite"))]
fn of_commit(failure: StatementFailure) -> StatementFailure {
    match failure.outcome {
        Execution::Unknown => {
            let message = format!("{}; it is not known whether the statement took effect", failure.error.message);
            StatementFailure::unknown(failure.error.with_kind(ErrorKind::Unavailable).with_message(message))
        }
        Execution::NotExecuted | Execution::Final => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_it_knows() {
        let rows = |cells: Vec<Value>| Rows { columns: ["a".to_owned(), "b".to_owned()].into(), rows: vec![cells], ..Rows::default() };
        let one = |text: &str| rows(vec![Value::Text(text.to_owned()), Value::Null]);
        let bytes = kept(&one("x")).unwrap();
        let broken = Value::Bytes(bytes[1..].to_vec());
        let bytes = Value::Bytes(bytes);
        let seven = RecordedWrite::MadeBefore(Rows { affected: 7, ..Rows::default() });
        let cases = [
            (vec![Value::I64(7), bytes], Some(RecordedWrite::MadeBefore(one("x")))),
            (vec![Value::I64(7), Value::Null], Some(seven)),
            (vec![Value::Null, Value::Null], Some(RecordedWrite::MadeBeforeUnknown)),
            (vec![Value::Null, broken], Some(RecordedWrite::MadeBeforeUnknown)),
        ];
        for (cells, expected) in cases {
            assert_eq!(found(&rows(cells)), expected);
        }
        assert_eq!(found(&Rows::default()), None);
        assert_eq!(kept(&one(&"x".repeat(LARGEST))), None);
    }
}
