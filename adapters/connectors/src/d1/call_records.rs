//! Writes with a record of their call, in one batch: D1 runs a batch as one transaction. A second batch with the same key fails at its
//! record, and so as a whole.
//!
//! The batch itself notes how many rows a statement changed. It cannot keep rows that a statement returns: they are stored right after it,
//! and a call that comes in between, or after a connection that broke there, finds out that the change was made and no more.

use millrace_catalogue as catalogue;
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{CALL_RECORDS, CallRecord, Command, Query, RecordedWrite},
    value::{Rows, Value},
};

use super::{D1, Prepared, Reply};
use crate::{
    shared::{StatementFailure, kept, only_reads, own_query, within_limits},
    sqlite_text::{
        call_records::{
            COUNT, COUNT_NONE, CREATE_INDEX, CREATE_TABLE, FIND, FORGET, INSERT, STORE, SWEEP, counted, found, of_no_table, of_records,
            values,
        },
        changes_rows,
    },
};

/// The author's statement in a batch, after the three that make way for the record and keep it.
const WRITE: usize = 3;

impl D1 {
    pub(super) async fn write_recorded(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        query.without_session(catalogue::D1.name)?;
        if let Command::Transaction(steps) = query.command {
            return self.transact_recorded(query, steps, record).await;
        }
        let (text, values) = query.statement(catalogue::D1.name)?;
        let prepared = Prepared::of(text, values, self.transport.takes_bytes())?;
        if self.read_only {
            only_reads(query, prepared.effect)?;
        }
        let write = async || match self.attempt_recorded(query, text, &prepared, record).await? {
            Some(write) => Ok(write),
            None => {
                self.create_records(query).await?;
                let again = self.attempt_recorded(query, text, &prepared, record).await?;
                again.ok_or_else(|| StatementFailure::not_executed(passing()))
            }
        };
        let write = self.retry.run_safe(query, write).await?;
        let RecordedWrite::Made(rows) = write else { return Ok(write) };
        if !prepared.effect.returns {
            return Ok(RecordedWrite::Made(rows));
        }
        if let Some(kept) = kept(&rows) {
            // The change is made: where this fails, its rows are not known to later calls.
            drop(self.store(query, record.key, kept).await);
        }
        within_limits(rows, query, prepared.effect).map(RecordedWrite::Made)
    }

    /// Makes the table of records where it is missing.
    pub(super) async fn make_records(&self, deadline_ms: u64) -> Result<()> {
        let query = own_query(FIND, deadline_ms);
        let nothing = CallRecord { key: "", now_s: 0, expires_s: 0 };
        let make = async || match self.find(&query, nothing).await {
            Err(failure) if of_no_table(&failure) => self.create_records(&query).await,
            outcome => outcome.map(drop).map_err(of_records),
        };
        self.retry.run_safe(&query, make).await
    }

    /// `None` where there is no table of records.
    async fn attempt_recorded(
        &self,
        query: &Query<'_>,
        text: &str,
        prepared: &Prepared<'_>,
        record: CallRecord<'_>,
    ) -> Result<Option<RecordedWrite>, StatementFailure> {
        let own = values(record);
        let mut batch = self.keep_record(&own)?;
        batch.push(prepared.clone());
        if !prepared.effect.returns {
            batch.push(self.own(if changes_rows(text) { COUNT } else { COUNT_NONE }, &own.1[..1])?);
        }
        let mut replies = match self.transport.send_batch(&batch, WRITE, query).await {
            Ok(replies) => replies,
            Err(failure) => return self.made_before(query, record, failure).await,
        };
        let last = replies.pop().zip(batch.last());
        let rows = last.map(|(reply, statement)| reply.into_rows(statement)).transpose()?.unwrap_or_default();
        Ok(Some(RecordedWrite::Made(if prepared.effect.returns { rows } else { counted(&rows) })))
    }

    /// The statements that make way for a record and keep it, which come before what is written with it.
    pub(super) fn keep_record<'a>(
        &self,
        (insert, find, sweep): &'a ([Value; 3], [Value; 2], [Value; 2]),
    ) -> Result<Vec<Prepared<'a>>, StatementFailure> {
        Ok(vec![self.own(SWEEP, sweep)?, self.own(FORGET, find)?, self.own(INSERT, insert)?])
    }

    /// What the failure of a batch with a record says of an earlier call. `None` where there is no table of records.
    ///
    /// # Errors
    /// The same failure, where it says nothing of one.
    pub(super) async fn made_before(
        &self,
        query: &Query<'_>,
        record: CallRecord<'_>,
        failure: StatementFailure,
    ) -> Result<Option<RecordedWrite>, StatementFailure> {
        if of_no_table(&failure) {
            return Ok(None);
        }
        if is_duplicate(&failure) {
            let rows = self.find(query, record).await.map_err(of_records)?;
            // It expired in between.
            return found(&rows).map(Some).ok_or_else(|| StatementFailure::not_executed(passing()));
        }
        // Whose statement is not understood, the error does not say.
        if failure.error.kind == ErrorKind::Syntax {
            return match self.find(query, record).await {
                Err(own) if own.error.kind == ErrorKind::Syntax => Err(of_records(own)),
                _ => Err(failure),
            };
        }
        Err(failure)
    }

    async fn find(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<Rows, StatementFailure> {
        let (_, find, _) = values(record);
        self.send_own(query, FIND, &find).await
    }

    pub(super) async fn store(&self, query: &Query<'_>, key: &str, rows: Vec<u8>) -> Result<(), StatementFailure> {
        self.send_own(query, STORE, &[Value::Text(key.to_owned()), Value::Bytes(rows)]).await.map(drop)
    }

    pub(super) async fn create_records(&self, query: &Query<'_>) -> Result<(), StatementFailure> {
        self.send_own(query, CREATE_TABLE, &[]).await.map_err(of_records)?;
        self.send_own(query, CREATE_INDEX, &[]).await.map_err(of_records).map(drop)
    }

    async fn send_own(&self, query: &Query<'_>, text: &str, values: &[Value]) -> Result<Rows, StatementFailure> {
        let prepared = self.own(text, values)?;
        self.transport.send(&prepared, query).await.and_then(|reply: Reply| reply.into_rows(&prepared))
    }

    /// A statement of Millrace's own.
    fn own<'a>(&self, text: &'a str, values: &'a [Value]) -> Result<Prepared<'a>, StatementFailure> {
        Prepared::of(text, values, self.transport.takes_bytes()).map_err(StatementFailure::last)
    }
}

/// Whether there is a record with the key.
fn is_duplicate(failure: &StatementFailure) -> bool {
    failure.error.kind == ErrorKind::Constraint && failure.error.source.as_deref().is_some_and(|words| words.contains(CALL_RECORDS))
}

pub(super) fn passing() -> Error {
    Error::new(ErrorKind::Busy, "another call with the same key has just changed its record")
}
