//! Writes with a record of their call, in one batch, which is one transaction: the record is put first, and a second batch with the same key
//! fails at it, and so as a whole. While the first one runs, the second waits there.
//!
//! A batch cannot keep the rows of a statement that comes before its end: they are stored right after it. A call that comes in between waits
//! a moment for them; after a connection that broke there, it finds out that the change was made and no more.

use millrace_catalogue::call_records::neon::{KEEP, PROBE, PUT};
use millrace_core::{
    Error, ErrorKind, Result,
    ports::{CALL_RECORDS, CallRecord, Query, RecordedWrite, SWEPT_RECORDS},
    value::{Rows, Value},
};

use super::{Neon, Refusal, Step, Work, Written};
use crate::{
    postgres_text::call_records::{
        CREATE_INDEX, CREATE_TABLE, FIND, FORGET, SWEEP, for_record, found, is_made_by_another, is_missing, must_write, of_records, wait_ms,
    },
    shared::{StatementFailure, kept},
};

/// The author's statement waits as long as its user does elsewhere.
const OWN_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout TO DEFAULT";

/// How long a call may take to store its rows, in milliseconds: its change is made, and its caller waits.
const STORING_MS: u64 = 2_000;
/// How long the rows of a write are waited for, in milliseconds: they come one request after its record.
const PAUSES_MS: [u64; 3] = [50, 100, 200];

/// What a batch that failed says of the record.
enum Place {
    /// There is no table of records.
    Missing,
    /// Another call has put it, and has not ended.
    Running,
    /// It was there.
    Taken,
    /// The record cannot be put.
    Refused,
    /// Nothing, or nothing that can be told apart.
    Unclear,
}

impl Neon {
    pub(super) async fn write_recorded(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        must_write(self.read_only)?;
        let write = self.with_written(query, async |written: &Written<'_>| self.repeat(query, &Work::Once(written, record)).await).await?;
        if let RecordedWrite::Made(rows) = &write {
            self.store(query, record, rows).await;
        }
        Ok(write)
    }

    /// Makes the table of records where it is missing.
    pub(super) async fn make_records(&self, query: &Query<'_>) -> Result<(), StatementFailure> {
        match self.run_own(query, PROBE, &[]).await {
            Ok(_) => Ok(()),
            Err(refusal) if is_missing(&refusal.failure.error) => self.create_records(query).await,
            Err(refusal) => Err(self.of_own(query, refusal).await),
        }
    }

    pub(super) async fn attempt_recorded(
        &self,
        query: &Query<'_>,
        written: &Written<'_>,
        record: CallRecord<'_>,
    ) -> Result<RecordedWrite, StatementFailure> {
        let mut may_create = true;
        loop {
            match self.attempt_put(query, written, record).await {
                Err(failure) if is_missing(&failure.error) && is_about_records(&failure.error) => {
                    if !std::mem::take(&mut may_create) {
                        return Err(of_records(failure));
                    }
                    self.create_records(query).await?;
                }
                outcome => return outcome,
            }
        }
    }

    async fn attempt_put(
        &self,
        query: &Query<'_>,
        written: &Written<'_>,
        record: CallRecord<'_>,
    ) -> Result<RecordedWrite, StatementFailure> {
        let key = || Value::Text(record.key.to_owned());
        let before = vec![
            self.deadline(query, Some(wait_ms))?,
            Step::own(FORGET, &[key(), Value::I64(record.now_s)]),
            Step::own(PUT, &[key(), Value::I64(record.expires_s)]),
            Step::own(OWN_LOCK_TIMEOUT, &[]),
        ];
        let refusal = match self.run_written(query, before, written).await {
            Ok(rows) => return Ok(RecordedWrite::Made(rows)),
            Err(refusal) => refusal,
        };
        match place(&refusal) {
            Place::Missing => Err(refusal.failure),
            Place::Running => Ok(RecordedWrite::Running),
            Place::Taken => self.find(query, &key()).await,
            Place::Refused => Err(of_records(refusal.failure)),
            Place::Unclear => {
                // Whose statement is not understood, the error does not say.
                if refusal.failure.error.kind == ErrorKind::Syntax
                    && let Err(own) = self.run_own(query, PROBE, &[]).await
                    && own.failure.error.kind == ErrorKind::Syntax
                {
                    return Err(self.of_own(query, own).await);
                }
                Err(self.blame(query, refusal).await)
            }
        }
    }

    /// What the record says. The call that it is of may be about to store its rows.
    async fn find(&self, query: &Query<'_>, key: &Value) -> Result<RecordedWrite, StatementFailure> {
        let mut pauses = PAUSES_MS.into_iter();
        loop {
            let rows = match self.run_own(query, FIND, std::slice::from_ref(key)).await {
                Ok(rows) => rows,
                Err(refusal) => return Err(self.of_own(query, refusal).await),
            };
            let pause_ms = pauses.next().filter(|pause_ms| self.clock.now_ms().saturating_add(*pause_ms) < query.deadline_ms);
            match (found(&rows)?, pause_ms) {
                (RecordedWrite::MadeBeforeUnknown, Some(pause_ms)) => self.clock.sleep(pause_ms).await,
                (write, _) => return Ok(write),
            }
        }
    }

    /// Stores the rows of a write, and removes expired records. The change is made: where this fails, its rows are not known to later calls.
    async fn store(&self, query: &Query<'_>, record: CallRecord<'_>, rows: &Rows) {
        let now_ms = self.clock.now_ms();
        let left_ms = query.deadline_ms.saturating_sub(now_ms);
        if left_ms == 0 {
            return;
        }
        // The call has an answer, which must not be lost to the deadline.
        let query = Query { deadline_ms: now_ms.saturating_add(wait_ms(left_ms).min(STORING_MS)), ..query.clone() };
        let keep =
            kept(rows).map(|rows| Step::own(KEEP, &[Value::Text(record.key.to_owned()), Value::Bytes(rows), Value::I64(record.expires_s)]));
        let sweep = Step::own(SWEEP, &[Value::I64(record.now_s), Value::I64(SWEPT_RECORDS.into())]);
        let attempt = async || {
            let mut steps = vec![self.deadline(&query, None)?];
            steps.extend(keep.clone());
            steps.push(sweep.clone());
            self.batch(&query, steps).await.map_err(|refusal| refusal.failure)
        };
        drop(self.retry.run_safe(&query, attempt).await);
    }

    async fn create_records(&self, query: &Query<'_>) -> Result<(), StatementFailure> {
        for statement in [CREATE_TABLE, CREATE_INDEX] {
            match self.run_own(query, statement, &[]).await {
                Err(refusal) if !is_made_by_another(&refusal.failure.error) => return Err(self.of_own(query, refusal).await),
                _ => {}
            }
        }
        Ok(())
    }

    /// Runs a statement of the connector's own.
    async fn run_own(&self, query: &Query<'_>, text: &str, values: &[Value]) -> Result<Rows, Refusal> {
        let query = for_record(query);
        let steps = vec![self.deadline(&query, None)?, Step::own(text, values)];
        self.batch(&query, steps).await
    }

    /// What the failure of such a statement means: something about the table only where PostgreSQL said it of the statement.
    async fn of_own(&self, query: &Query<'_>, refusal: Refusal) -> StatementFailure {
        if refusal.said.is_none() {
            return refusal.failure;
        }
        // The settings of the connection stand before it, too.
        of_records(self.blame(&Query { session: &[], ..query.clone() }, refusal).await)
    }
}

fn place(refusal: &Refusal) -> Place {
    let Some(said) = &refusal.said else { return Place::Unclear };
    let is_named = said.words.contains(CALL_RECORDS);
    let is_of_table = said.table.as_deref() == Some(CALL_RECORDS);
    match said.code.as_str() {
        "42P01" if is_named => Place::Missing,
        "55P03" if refusal.context.contains(CALL_RECORDS) => Place::Running,
        "23505" if is_of_table => Place::Taken,
        "42501" | "42703" if is_named => Place::Refused,
        _ if is_of_table => Place::Refused,
        _ => Place::Unclear,
    }
}

fn is_about_records(error: &Error) -> bool {
    error.source.as_deref().is_some_and(|words| words.contains(CALL_RECORDS))
}
