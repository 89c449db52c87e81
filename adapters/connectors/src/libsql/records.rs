//! Writes with a record of their call, in one transaction of one stream. What breaks before the
//! commit leaves nothing, and after it the record: so such a write may be sent again.
//!
//! A statement without rows takes one request. One with rows takes a second, which keeps the rows
//! and commits; between the two the server holds the transaction open, and ends it by itself where
//! the second never comes.

use millrace_catalogue::LIBSQL;
use millrace_core::{
    Result,
    app::Access,
    ports::{CallRecord, Command, LocalFuture, Query, RecordedWrite},
    value::{Rows, Value},
};

use super::{
    Libsql,
    hrana::{self, BatchReply, Condition, Sent, Step},
};
use crate::{
    shared::{
        Effect, OwnStatements, Statement, StatementFailure, kept, only_reads, own_query,
        records::{RecordStatement, create, found, prepare},
        within_limits,
    },
    sqlite_text::{
        changes_rows, check,
        records::{COUNT, COUNT_NONE, FORGET, INSERT, RECORDS, counted, of_no_table},
    },
};

/// The statements of a transaction's beginning, by their numbers.
pub(super) const BEGIN: u8 = 0;
const SWEPT: u8 = 1;
const FORGOT: u8 = 2;
pub(super) const INSERTED: u8 = 3;
const FOUND: u8 = 4;
/// The author's statement.
const WROTE: u8 = 5;
/// Where the statement has no rows: else the transaction stays open.
const COUNTED: u8 = 6;
const COMMITTED: u8 = 7;

/// What came of the beginning of a transaction with a record.
pub(super) enum Begun {
    /// The record is this call's.
    Own,
    /// There is one.
    Before(RecordedWrite),
    /// There is no table of records.
    NoTable,
}

/// The values of the statements that put a record.
pub(super) struct RecordValues {
    sweep: Vec<Value>,
    forget: Vec<Value>,
    insert: Vec<Value>,
    find: Vec<Value>,
}

impl RecordValues {
    pub(super) fn of(record: CallRecord<'_>) -> Self {
        let values = |statement: &RecordStatement| statement.values(record, &Value::Null);
        Self { sweep: values(&RECORDS.sweep), forget: values(&FORGET), insert: values(&INSERT), find: values(&RECORDS.find) }
    }

    /// The beginning of a transaction in which the record is put, or looked for where there is one.
    pub(super) fn puts(&self, access: Access) -> Vec<Step<'_>> {
        let step = |condition, text, values| Step { condition: Some(condition), text, values };
        vec![
            begin(access),
            step(Condition::ok(BEGIN), RECORDS.sweep.text, &self.sweep),
            step(Condition::ok(SWEPT), FORGET.text, &self.forget),
            step(Condition::ok(FORGOT), INSERT.text, &self.insert),
            step(Condition::ok_but_not(FORGOT, INSERTED), RECORDS.find.text, &self.find),
        ]
    }
}

/// The statement that begins a transaction.
pub(super) fn begin(access: Access) -> Step<'static> {
    Step { condition: None, text: if access == Access::Write { "BEGIN IMMEDIATE" } else { "BEGIN" }, values: &[] }
}

/// What became of the beginning of a transaction with a record.
pub(super) fn begun(reply: &mut BatchReply) -> Result<Begun, StatementFailure> {
    reply.take(BEGIN).map_err(StatementFailure::before_the_end)?;
    for number in [SWEPT, FORGOT] {
        match reply.take(number) {
            Err(failure) if of_no_table(&failure) => return Ok(Begun::NoTable),
            outcome => drop(outcome.map_err(|failure| RECORDS.blame(failure))?),
        }
    }
    match reply.take(INSERTED) {
        Ok(_) => Ok(Begun::Own),
        Err(failure) => {
            let before = reply.take(FOUND).map_err(|failure| RECORDS.blame(failure))?.as_ref().and_then(found);
            before.map(Begun::Before).ok_or_else(|| RECORDS.blame(failure))
        }
    }
}

impl OwnStatements for &Libsql {
    fn run_own<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(async move {
            let steps = [Step { condition: None, text: own.text, values: own.values }];
            self.batch(query, None, &steps, true).await?.take(0)?.ok_or_else(|| StatementFailure::unknown(hrana::absent()))
        })
    }
}

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
        self.creating(query, async || self.attempt_recorded(query, effect, record).await).await
    }

    /// Attempts a write with a record; once more after the table of records was made, where an
    /// attempt finds none.
    pub(super) async fn creating(
        &self,
        query: &Query<'_>,
        attempt: impl AsyncFn() -> Result<Option<RecordedWrite>, StatementFailure>,
    ) -> Result<RecordedWrite> {
        let write = async || {
            if let Some(write) = attempt().await? {
                return Ok(write);
            }
            create(&mut { self }, &RECORDS, query).await?;
            attempt().await?.ok_or_else(|| StatementFailure::unknown(hrana::absent()))
        };
        self.retry.run_safe(query, write).await
    }

    /// Makes the table of records where it is missing.
    pub(super) async fn make_records(&self, deadline_ms: u64) -> Result<()> {
        let query = own_query("SELECT 1", deadline_ms);
        self.retry.run_safe(&query, async || prepare(&mut { self }, &RECORDS, &query).await).await
    }

    /// `None` where there is no table of records.
    async fn attempt_recorded(
        &self,
        query: &Query<'_>,
        effect: Effect,
        record: CallRecord<'_>,
    ) -> Result<Option<RecordedWrite>, StatementFailure> {
        let (text, params) = query.statement(LIBSQL.name).map_err(StatementFailure::last)?;
        let own = RecordValues::of(record);
        let key = COUNT.values(record, &Value::Null);
        let step = |condition, text, values| Step { condition, text, values };
        let after = |number| Some(Condition::ok(number));
        let mut steps = own.puts(Access::Write);
        steps.push(step(after(INSERTED), text, params));
        let last = if effect.returns {
            WROTE
        } else {
            steps.push(step(after(WROTE), if changes_rows(text) { COUNT } else { COUNT_NONE }.text, &key[..]));
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
        match begun(reply)? {
            Begun::Own => {}
            Begun::Before(write) => return Ok(Some(write)),
            Begun::NoTable => return Ok(None),
        }
        let rows = reply.take(WROTE)?.ok_or_else(|| StatementFailure::unknown(hrana::absent()))?;
        if effect.returns {
            let baton = reply.baton.take().ok_or_else(|| StatementFailure::unknown(hrana::absent()))?;
            return self.commit(query, record, &baton, rows).await.map(Some);
        }
        let rows = reply.take(COUNTED).map_err(|failure| RECORDS.blame(failure))?.as_ref().map(counted);
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
        let store = RECORDS.keep.values(record, &kept(&rows).map_or(Value::Null, Value::Bytes));
        let steps = [
            Step { condition: None, text: RECORDS.keep.text, values: &store },
            Step { condition: Some(Condition::ok(0)), text: "COMMIT", values: &[] },
            Step { condition: Some(Condition::Not { cond: Box::new(Condition::ok(1)) }), text: "ROLLBACK", values: &[] },
        ];
        let mut reply = self.batch(query, Some(baton), &steps, true).await.map_err(of_stream)?;
        reply.take(0).map_err(|failure| RECORDS.blame(failure))?;
        reply.take(1)?.ok_or_else(|| StatementFailure::unknown(hrana::absent()))?;
        Ok(RecordedWrite::Made(rows))
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
            |version| hrana::prepare_batch(&self.address.base, self.address.token.as_ref(), version, &Sent { baton, steps, close }, query);
        // A stream belongs to one version.
        let response = match baton {
            Some(_) => self.send(prepare(self.version.get())).await?,
            None => self.request(prepare).await?,
        };
        hrana::parse_batch(&response, steps)
    }
}

/// The server no longer knows the stream: it was restarted, or ended a transaction that took too
/// long. Whether that was before the commit or after it, the record tells the next attempt.
fn of_stream(failure: StatementFailure) -> StatementFailure {
    StatementFailure::unknown(failure.error)
}
