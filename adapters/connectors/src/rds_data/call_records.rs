//! A write with its record, in one transaction: the record is put first, without rows, which is where a call with the same key waits for one that still
//! runs; then the statement runs; then its rows go into the record, and all is committed. Whatever is lost before the commit was sent has changed nothing.
//! After that nobody knows, and the next attempt finds out.

use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::{CallRecord, Query, RecordedWrite, SWEPT_RECORDS},
    value::{Rows, Value},
};

use super::{
    Failed, RdsData, Refusal, Unclear, Work, reply,
    transaction::{Holds, Open},
};
use crate::{
    postgres_text::call_records::{
        CHECK_NOW, CREATE_INDEX, CREATE_TABLE, FIND, FORGET, KEEP, OWN_ROLE, PUT, SWEEP, for_record, found, is_code, is_made_by_another,
        is_missing, must_write, of_records, wait_ms,
    },
    shared::{Execution, StatementFailure, kept},
};

/// The author's statement waits as long as its user does elsewhere, and runs until the deadline.
const OWN_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout TO DEFAULT";
const OWN_TIMEOUT: &str = "SELECT set_config('statement_timeout', $1, true)";

/// The most bytes of rows that are kept: the API sends 1 MB, and bytes as base64.
const LARGEST_BYTES: usize = 700_000;

/// What became of putting the record.
enum Place {
    /// It is there now, and this call's.
    Own,
    /// It was there.
    Taken,
    /// Another call has put it, and has not ended.
    Running,
}

impl RdsData {
    pub(super) async fn write_recorded(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        must_write(self.read_only)?;
        let work = Work::of(query)?;
        self.repeat(query, &Work::Once(&work, record)).await
    }

    /// Makes the table of records where it is missing.
    pub(super) async fn make_records(&self, query: &Query<'_>) -> Result<(), StatementFailure> {
        match self.run_own(query, FIND, &[Value::Text(String::new())]).await {
            Err(failure) if is_missing(&failure.error) => self.create_records(query).await,
            outcome => outcome.map(drop).map_err(of_records),
        }
    }

    pub(super) async fn attempt_recorded(
        &self,
        query: &Query<'_>,
        work: &Work<'_>,
        record: CallRecord<'_>,
        unclear: Option<Unclear>,
    ) -> Result<RecordedWrite, Failed> {
        // Whatever fails before the end of the transaction has changed nothing, as if it only read.
        let query = &Query { access: Access::Read, ..query.clone() };
        let mut put = self.put(query, record).await;
        if put.as_ref().is_err_and(|failure| is_missing(&failure.error)) {
            self.create_records(query).await?;
            put = self.put(query, record).await;
        }
        let (open, place) = put.map_err(of_records)?;
        match place {
            Place::Running => {
                open.undo().await;
                return Ok(RecordedWrite::Running);
            }
            Place::Taken => {
                let rows = self.own_rows(&for_record(query), &open, FIND, &[key(record)]).await;
                open.undo().await;
                return Ok(found(&rows?)?);
            }
            Place::Own => {}
        }
        let open = open.with_unclear(unclear);
        match self.write(query, &open, work, record).await {
            Ok(rows) => {
                open.commit(query).await.map_err(of_commit)?;
                Ok(RecordedWrite::Made(rows))
            }
            Err(failed) => {
                open.undo().await;
                Err(failed)
            }
        }
    }

    /// Begins the transaction and puts the record.
    async fn put(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<(Open, Place), StatementFailure> {
        let left_ms = query.deadline_ms.saturating_sub(self.api.server.clock.now_ms());
        let open = self.begin(query, &Holds { lock_ms: Some(wait_ms(left_ms)), ..Holds::default() }).await?;
        let put = async {
            self.own_rows(query, &open, FORGET, &[key(record), Value::I64(record.now_s)]).await?;
            self.own_rows(query, &open, PUT, &[key(record), Value::I64(record.expires_s)]).await
        };
        let place = match put.await {
            Ok(Rows { affected: 0, .. }) => Place::Taken,
            Ok(_) => Place::Own,
            Err(failure) if failure.error.kind == ErrorKind::TimedOut || is_code(&failure.error, "55P03") => Place::Running,
            Err(failure) => {
                open.undo().await;
                return Err(failure);
            }
        };
        Ok((open, place))
    }

    /// Runs the author's command, and stores what it returned.
    async fn write(&self, query: &Query<'_>, open: &Open, work: &Work<'_>, record: CallRecord<'_>) -> Result<Rows, Failed> {
        let left_ms = query.deadline_ms.saturating_sub(self.api.server.clock.now_ms()).max(1);
        self.own_rows(query, open, OWN_LOCK_TIMEOUT, &[]).await?;
        self.own_rows(query, open, OWN_TIMEOUT, &[Value::Text(left_ms.min(i32::MAX as u64).to_string())]).await?;
        self.set_session(query, open).await?;
        let rows = self.within(query, open, work).await??;
        // The record is the adapter's, not the caller's; and what is checked at the end of the statement's transaction is the caller's still.
        if !query.session.is_empty() {
            self.own_rows(query, open, CHECK_NOW, &[]).await?;
            self.own_rows(query, open, OWN_ROLE, &[]).await.map_err(of_records)?;
        }
        let bytes = kept(&rows).filter(|bytes| bytes.len() <= LARGEST_BYTES).map_or(Value::Null, Value::Bytes);
        self.own_rows(query, open, KEEP, &[key(record), bytes]).await.map_err(of_records)?;
        let swept = [Value::I64(record.now_s), Value::I64(SWEPT_RECORDS.into())];
        self.own_rows(query, open, SWEEP, &swept).await.map_err(of_records)?;
        Ok(rows)
    }

    /// Makes the table and its index.
    async fn create_records(&self, query: &Query<'_>) -> Result<(), StatementFailure> {
        for statement in [CREATE_TABLE, CREATE_INDEX] {
            match self.run_own(query, statement, &[]).await {
                Err(failure) if is_made_by_another(&failure.error) => {}
                outcome => drop(outcome.map_err(of_records)?),
            }
        }
        Ok(())
    }

    /// Runs a statement of the connector's own in a transaction of its own.
    async fn run_own(&self, query: &Query<'_>, text: &str, values: &[Value]) -> Result<Rows, StatementFailure> {
        let query = &for_record(query);
        let open = self.begin(query, &Holds::default()).await?;
        match self.own_rows(query, &open, text, values).await {
            Ok(rows) => {
                open.commit(query).await?;
                Ok(rows)
            }
            Err(failure) => {
                open.undo().await;
                Err(failure)
            }
        }
    }

    /// The rows of a statement of the connector's own.
    ///
    /// # Errors
    /// Nothing has taken effect.
    async fn own_rows(&self, query: &Query<'_>, open: &Open, text: &str, values: &[Value]) -> Result<Rows, StatementFailure> {
        let reply = self.own(query, open, text, values).await.map_err(|Refusal { failure, .. }| failure.before_the_end())?;
        reply::rows_of(reply, query).map_err(StatementFailure::before_the_end)
    }
}

fn key(record: CallRecord<'_>) -> Value {
    Value::Text(record.key.to_owned())
}

/// A failure of the commit.
fn of_commit(failure: StatementFailure) -> StatementFailure {
    if failure.outcome == Execution::Unknown {
        let message = format!("{}; it is not known whether the statement took effect", failure.error.message);
        return StatementFailure::unknown(Error { kind: ErrorKind::Unavailable, message, ..failure.error });
    }
    failure
}
