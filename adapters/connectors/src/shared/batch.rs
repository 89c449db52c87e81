//! A write with its record where a database takes all statements of a transaction at once: the
//! record is put first, and a second batch with the same key fails at it, and so as a whole.
//!
//! A batch cannot keep the rows of a statement that comes before its end: they are stored right
//! after it. A call that comes in between, or after a connection that broke there, finds out that
//! the change was made and no more.

use millrace_core::{
    Error, ErrorKind,
    ports::{CallRecord, Query, RecordedWrite},
    value::Rows,
};

use super::{
    OwnStatements, Records, Retry, StatementFailure,
    records::{NO_RECORD, ask, create, found, removed},
};

/// What a batch that failed says of the record.
pub(crate) enum RecordPlace {
    /// There is no table of records.
    Missing,
    /// Another call has put it, and has not ended.
    #[cfg(feature = "databases")]
    Running,
    /// It was there.
    Taken,
    /// The record cannot be put.
    #[cfg(feature = "databases")]
    Refused,
    /// Nothing, or nothing that can be told apart.
    Unclear,
}

/// What sends batches.
pub(crate) trait Batches: OwnStatements {
    /// What the author wrote, ready to be sent.
    type Written<'w>;
    /// A batch that failed.
    type Failure: Into<StatementFailure>;
    /// How long the rows of a write are waited for, in milliseconds: they come one request after
    /// its record.
    const PAUSES_MS: &'static [u64];
    /// The table of records.
    const RECORDS: Records;
    /// Whether a table is there as soon as it was made.
    const HAS_TABLES_AT_ONCE: bool;

    /// Puts a record and runs what the author wrote, in one batch.
    async fn put(&mut self, query: &Query<'_>, written: &Self::Written<'_>, record: CallRecord<'_>) -> Result<Rows, Self::Failure>;

    /// What the failure of such a batch says of the record.
    fn place(failure: &Self::Failure) -> RecordPlace;

    /// Whose fault the failure is, where it is not the record's.
    async fn blame(&mut self, query: &Query<'_>, failure: Self::Failure) -> StatementFailure {
        let _ = (self, query);
        failure.into()
    }
}

/// Runs what the author wrote in one batch with its record, unless there is a record.
///
/// # Errors
/// What the database said, and what that means for another attempt.
pub(crate) async fn write_once<B: Batches>(
    batches: &mut B,
    retry: &Retry,
    query: &Query<'_>,
    written: &B::Written<'_>,
    record: CallRecord<'_>,
) -> Result<RecordedWrite, StatementFailure> {
    let records = &B::RECORDS;
    let mut may_create = true;
    loop {
        let failure = match batches.put(query, written, record).await {
            Ok(rows) => return Ok(RecordedWrite::Made(rows)),
            Err(failure) => failure,
        };
        match B::place(&failure) {
            RecordPlace::Missing if std::mem::take(&mut may_create) => create(batches, records, query).await?,
            RecordPlace::Missing if !B::HAS_TABLES_AT_ONCE => return Err(not_yet()),
            RecordPlace::Missing => return Err(records.blame(failure.into())),
            #[cfg(feature = "databases")]
            RecordPlace::Refused => return Err(records.blame(failure.into())),
            #[cfg(feature = "databases")]
            RecordPlace::Running => return Ok(RecordedWrite::Running),
            RecordPlace::Taken => return wait(batches, retry, query, record).await,
            RecordPlace::Unclear => {
                let failure = batches.blame(query, failure).await;
                // Whose statement is not understood, the error does not say.
                if failure.error.kind == ErrorKind::Syntax
                    && let Err(own) = ask(batches, &records.probe, query, NO_RECORD).await
                    && own.error.kind == ErrorKind::Syntax
                {
                    return Err(records.blame(own));
                }
                return Err(failure);
            }
        }
    }
}

/// What is told of a table that was just made and is not there: the same may be sent again.
fn not_yet() -> StatementFailure {
    let message = "the table `millrace_calls` was just made, and the database does not have it yet";
    StatementFailure::not_executed(Error::new(ErrorKind::Busy, message))
}

/// What the record says. The call that it is of may be about to store its rows.
async fn wait<B: Batches>(
    batches: &mut B,
    retry: &Retry,
    query: &Query<'_>,
    record: CallRecord<'_>,
) -> Result<RecordedWrite, StatementFailure> {
    let mut pauses = B::PAUSES_MS.iter();
    loop {
        let rows = ask(batches, &B::RECORDS.find, query, record).await.map_err(|failure| B::RECORDS.blame(failure))?;
        match (found(&rows).ok_or_else(removed)?, pauses.next()) {
            (RecordedWrite::MadeBeforeUnknown, Some(pause_ms)) if retry.pause(query, *pause_ms).await => {}
            (write, _) => return Ok(write),
        }
    }
}
