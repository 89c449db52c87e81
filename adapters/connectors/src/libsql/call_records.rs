//! Writes with a record of their call, in one transaction of one stream. What breaks before the commit leaves nothing, and after it the
//! record: so such a write may be sent again.
//!
//! A statement without rows takes one request. One with rows takes a second, which keeps the rows and commits; between the two the server
//! holds the transaction open, and ends it by itself where the second never comes.

use millrace_catalogue::LIBSQL;
use millrace_core::{
    Result,
    ports::{CallRecord, Command, Query, RecordedWrite},
    value::{Rows, Value},
};

use super::{
    Libsql,
    hrana::{self, BatchReply, Condition, Step},
};
use crate::{
    shared::{Effect, StatementFailure, kept, only_reads, own_query, within_limits},
    sqlite_text::{
        call_records::{
            COUNT, COUNT_NONE, CREATE_INDEX, CREATE_TABLE, FIND, FORGET, INSERT, STORE, SWEEP, counted, found, of_no_table, of_records,
            values,
        },
        changes_rows, check,
    },
};

/// The steps of the first request, by their numbers.
const BEGIN: u8 = 0;
const SWEPT: u8 = 1;
const FORGOT: u8 = 2;
const INSERTED: u8 = 3;
const FOUND: u8 = 4;
const WROTE: u8 = 5;
/// Where the statement has no rows: else the transaction stays open.
const COUNTED: u8 = 6;
const COMMITTED: u8 = 7;

impl Libsql {
    pub(super) async fn write_recorded(&self, query: &Query<'_>, record: CallRecord<'_>) -> Result<RecordedWrite> {
        if let Command::Transaction(steps) = query.command {
            return self.transact_recorded(query, steps, record).await;
        }
        let (text, _) = query.statement(LIBSQL.name)?;
        let effect = check(text, LIBSQL.name)?;
        if self.read_only {
            only_reads(query, effect)?;
        }
        self.retry
            .run_safe(query, async || match self.attempt_recorded(query, effect, record).await? {
                Some(write) => Ok(write),
                None => {
                    self.create_records(query).await?;
                    let again = self.attempt_recorded(query, effect, record).await?;
                    again.ok_or_else(|| StatementFailure::unknown(hrana::absent()))
                }
            })
            .await
    }

    /// Makes the table of records where it is missing.
    pub(super) async fn make_records(&self, deadline_ms: u64) -> Result<()> {
        let query = own_query(FIND, deadline_ms);
        let nothing = values(CallRecord { key: "", now_s: 0, expires_s: 0 }).1;
        self.retry
            .run_safe(&query, async || {
                let steps = [Step { condition: None, text: FIND, values: &nothing }];
                match self.batch(&query, None, &steps, true).await?.take(0) {
                    Err(failure) if of_no_table(&failure) => self.create_records(&query).await,
                    outcome => outcome.map(drop).map_err(of_records),
                }
            })
            .await
    }

    /// `None` where there is no table of records.
    async fn attempt_recorded(
        &self,
        query: &Query<'_>,
        effect: Effect,
        record: CallRecord<'_>,
    ) -> Result<Option<RecordedWrite>, StatementFailure> {
        let (text, params) = query.statement(LIBSQL.name).map_err(StatementFailure::last)?;
        let (insert, find, sweep) = values(record);
        let step = |condition, text, values| Step { condition, text, values };
        let after = |number| Some(Condition::ok(number));
        let mut steps = vec![
            step(None, "BEGIN IMMEDIATE", &[]),
            step(after(BEGIN), SWEEP, &sweep[..]),
            step(after(SWEPT), FORGET, &find[..]),
            step(after(FORGOT), INSERT, &insert[..]),
            step(Some(Condition::ok_but_not(FORGOT, INSERTED)), FIND, &find[..]),
            step(after(INSERTED), text, params),
        ];
        let last = if effect.returns {
            WROTE
        } else {
            steps.push(step(after(WROTE), if changes_rows(text) { COUNT } else { COUNT_NONE }, &find[..1]));
            steps.push(step(after(COUNTED), "COMMIT", &[]));
            COMMITTED
        };
        steps.push(step(Some(Condition::ok_but_not(BEGIN, last)), "ROLLBACK", &[]));
        let mut reply = self.batch(query, None, &steps, !effect.returns).await?;
        let outcome = self.finish(query, effect, record, &mut reply).await;
        if let Some(baton) = reply.baton.take() {
            // Where this fails, the server closes the stream by itself.
            drop(self.batch(query, Some(&baton), &[], true).await);
        }
        outcome
    }

    /// What became of the steps; where the transaction is open, its end.
    async fn finish(
        &self,
        query: &Query<'_>,
        effect: Effect,
        record: CallRecord<'_>,
        reply: &mut BatchReply,
    ) -> Result<Option<RecordedWrite>, StatementFailure> {
        reply.take(BEGIN)?;
        for number in [SWEPT, FORGOT] {
            match reply.take(number) {
                Err(failure) if of_no_table(&failure) => return Ok(None),
                outcome => outcome.map_err(of_records)?,
            };
        }
        if let Err(failure) = reply.take(INSERTED) {
            let before = reply.take(FOUND).map_err(of_records)?.as_ref().and_then(found);
            return before.map(Some).ok_or_else(|| of_records(failure));
        }
        let rows = reply.take(WROTE)?.ok_or_else(|| StatementFailure::unknown(hrana::absent()))?;
        if effect.returns {
            let baton = reply.baton.take().ok_or_else(|| StatementFailure::unknown(hrana::absent()))?;
            return self.commit(query, record, &baton, rows).await.map(Some);
        }
        let rows = reply.take(COUNTED).map_err(of_records)?.as_ref().map(counted);
        match (rows, reply.take(COMMITTED)?) {
            (Some(rows), Some(_)) => Ok(Some(RecordedWrite::Made(rows))),
            _ => Err(StatementFailure::unknown(hrana::absent())),
        }
    }

    /// Keeps the rows of a write and commits it. Too many rows are no change.
    async fn commit(&self, query: &Query<'_>, record: CallRecord<'_>, baton: &str, rows: Rows) -> Result<RecordedWrite, StatementFailure> {
        let undone = Effect { reads: true, returns: true };
        let rows = match within_limits(rows, query, undone) {
            Ok(rows) => rows,
            Err(error) => {
                let steps = [Step { condition: None, text: "ROLLBACK", values: &[] }];
                // Where this fails, the server does so by itself.
                drop(self.batch(query, Some(baton), &steps, true).await);
                return Err(StatementFailure::last(error));
            }
        };
        let store = [Value::Text(record.key.to_owned()), kept(&rows).map_or(Value::Null, Value::Bytes)];
        let steps = [
            Step { condition: None, text: STORE, values: &store },
            Step { condition: Some(Condition::ok(0)), text: "COMMIT", values: &[] },
            Step { condition: Some(Condition::Not { cond: Box::new(Condition::ok(1)) }), text: "ROLLBACK", values: &[] },
        ];
        let mut reply = self.batch(query, Some(baton), &steps, true).await.map_err(of_stream)?;
        reply.take(0).map_err(of_records)?;
        reply.take(1)?.ok_or_else(|| StatementFailure::unknown(hrana::absent()))?;
        Ok(RecordedWrite::Made(rows))
    }

    pub(super) async fn create_records(&self, query: &Query<'_>) -> Result<(), StatementFailure> {
        let steps = [
            Step { condition: None, text: CREATE_TABLE, values: &[] },
            Step { condition: Some(Condition::ok(0)), text: CREATE_INDEX, values: &[] },
        ];
        let mut reply = self.batch(query, None, &steps, true).await?;
        reply.take(0).and_then(|_| reply.take(1)).map(drop).map_err(of_records)
    }

    /// Sends a batch on a stream: a new one, or that of the baton.
    pub(super) async fn batch(
        &self,
        query: &Query<'_>,
        baton: Option<&str>,
        steps: &[Step<'_>],
        close: bool,
    ) -> Result<BatchReply, StatementFailure> {
        let prepare =
            |version| hrana::prepare_batch(&self.address.base, self.address.token.as_ref(), version, (baton, steps, close), query);
        // A stream belongs to one version.
        let response = match baton {
            Some(_) => self.send(prepare(self.version.get())).await?,
            None => self.request(prepare).await?,
        };
        hrana::parse_batch(&response, steps)
    }
}

/// The server no longer knows the stream: it was restarted, or ended a transaction that took too long. Whether that was before the commit
/// or after it, the record tells the next attempt.
fn of_stream(failure: StatementFailure) -> StatementFailure {
    StatementFailure::unknown(failure.error)
}
