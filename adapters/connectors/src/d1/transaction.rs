//! A transaction as one batch: D1 carries out all of it or nothing. The result of a statement is known when all are done, so no statement can
//! take a value of another one, and what is expected of one is checked by a statement of its own behind it.

use millrace_catalogue as catalogue;
use millrace_core::{
    ErrorKind, Result,
    ports::{BoundTransaction, CallRecord, Query, RecordedWrite},
    value::{Rows, Value},
};

use super::{D1, Prepared, Reply, call_records::passing};
use crate::{
    shared::{Effect, StatementFailure, kept, only_reads, within_limits},
    sqlite_text::{call_records::values, expectation, of_search, searches},
};

/// A statement of the batch: that of a step, or what checks one.
struct Sent<'a> {
    prepared: Prepared<'a>,
    is_step: bool,
}

impl D1 {
    /// Runs the steps.
    pub(super) async fn transact(&self, query: &Query<'_>, steps: BoundTransaction<'_>) -> Result<Rows> {
        let written = Written::of(&steps)?;
        let sent = written.prepare(&steps, self.transport.takes_bytes())?;
        let effect = self.effect(query, &sent)?;
        let attempt = async || self.attempt_steps(query, &steps, &sent, Vec::new()).await;
        let rows = self.retry.run(query, effect, attempt).await?;
        within_limits(rows, query, effect)
    }

    /// Runs the steps with a record of their call.
    pub(super) async fn transact_recorded(
        &self,
        query: &Query<'_>,
        steps: BoundTransaction<'_>,
        record: CallRecord<'_>,
    ) -> Result<RecordedWrite> {
        let written = Written::of(&steps)?;
        let sent = written.prepare(&steps, self.transport.takes_bytes())?;
        let effect = self.effect(query, &sent)?;
        let write = async || match self.attempt_recorded_steps(query, &steps, &sent, record).await? {
            Some(write) => Ok(write),
            None => {
                self.create_records(query).await?;
                let again = self.attempt_recorded_steps(query, &steps, &sent, record).await?;
                again.ok_or_else(|| StatementFailure::not_executed(passing()))
            }
        };
        let write = self.retry.run_safe(query, write).await?;
        let RecordedWrite::Made(rows) = write else { return Ok(write) };
        if let Some(kept) = kept(&rows) {
            // The change is made: where this fails, its rows are not known to later calls.
            drop(self.store(query, record.key, kept).await);
        }
        within_limits(rows, query, effect).map(RecordedWrite::Made)
    }

    /// What all steps do together.
    fn effect(&self, query: &Query<'_>, sent: &[Sent<'_>]) -> Result<Effect> {
        let effect = Effect { reads: sent.iter().all(|sent| sent.prepared.effect.reads), returns: true };
        if self.read_only {
            only_reads(query, effect)?;
        }
        Ok(effect)
    }

    /// `None` where there is no table of records.
    async fn attempt_recorded_steps(
        &self,
        query: &Query<'_>,
        steps: &BoundTransaction<'_>,
        sent: &[Sent<'_>],
        record: CallRecord<'_>,
    ) -> Result<Option<RecordedWrite>, StatementFailure> {
        let own = values(record);
        let before = self.keep_record(&own)?;
        match self.attempt_steps(query, steps, sent, before).await {
            Ok(rows) => Ok(Some(RecordedWrite::Made(rows))),
            Err(failure) => self.made_before(query, record, failure).await,
        }
    }

    /// Sends `before` and the steps as one batch; the result of the steps.
    async fn attempt_steps(
        &self,
        query: &Query<'_>,
        steps: &BoundTransaction<'_>,
        sent: &[Sent<'_>],
        before: Vec<Prepared<'_>>,
    ) -> Result<Rows, StatementFailure> {
        let own = before.len();
        let batch: Vec<Prepared<'_>> = before.into_iter().chain(sent.iter().map(|sent| sent.prepared.clone())).collect();
        let replies = self
            .transport
            .send_batch(&batch, own, query)
            .await
            .map_err(|failure| without_place(expectation::told(failure, steps), steps))?;
        let mut answers: Vec<_> = replies.into_iter().skip(own).zip(sent).filter(|(_, sent)| sent.is_step).collect();
        let returns = |(reply, sent): &(Reply, &Sent<'_>)| sent.prepared.effect.returns || !reply.columns.is_empty();
        let place = steps.result.or_else(|| answers.iter().rposition(returns)).filter(|place| *place < answers.len());
        let Some(place) = place else {
            let affected = answers.iter().fold(0, |sum: u64, (reply, _)| sum.saturating_add(reply.changes));
            return Ok(Rows { affected, ..Rows::default() });
        };
        // What the other results hold is nobody's affair: everything is committed by now.
        let (reply, answer) = answers.swap_remove(place);
        let wrote = sent.iter().any(|sent| !sent.prepared.effect.reads);
        reply.into_rows(&answer.prepared).map_err(|StatementFailure { mut error, outcome }| {
            if wrote && answer.prepared.effect.reads {
                error.message.push_str("; the transaction took effect");
            }
            StatementFailure { error, outcome }
        })
    }
}

/// What the statements of a batch are made of.
struct Written {
    /// The values of each step.
    values: Vec<Vec<Value>>,
    /// What checks each step, and whether it takes the step's values.
    guards: Vec<Option<(String, bool)>>,
}

impl Written {
    fn of(steps: &BoundTransaction<'_>) -> Result<Self> {
        let (mut values, mut guards) = (Vec::new(), Vec::new());
        for (place, step) in steps.steps.iter().enumerate() {
            // No result is known: a step that takes a value of another one is refused.
            let own = steps.values(place, &[])?;
            let guard = expectation::guard(place, step, &own, catalogue::D1.name).map_err(|error| steps.of_step(place, error))?;
            guards.push(guard.map(|(text, taken)| (text, !taken.is_empty())));
            values.push(own);
        }
        Ok(Self { values, guards })
    }

    fn prepare<'a>(&'a self, steps: &'a BoundTransaction<'_>, takes_bytes: bool) -> Result<Vec<Sent<'a>>> {
        let mut sent = Vec::new();
        for (place, ((step, values), guard)) in steps.steps.iter().zip(&self.values).zip(&self.guards).enumerate() {
            let prepared = Prepared::of(&step.text, values, takes_bytes).map_err(|error| steps.of_step(place, error))?;
            sent.push(Sent { prepared, is_step: true });
            if let Some((text, takes_values)) = guard {
                let values = if *takes_values { values.as_slice() } else { &[] };
                sent.push(Sent { prepared: Prepared::of(text, values, takes_bytes)?, is_step: false });
            }
        }
        Ok(sent)
    }
}

/// D1 does not say which of the statements failed, so that a place in one of them says nothing, and a failure without one may be that of any that searches.
fn without_place(mut failure: StatementFailure, steps: &BoundTransaction<'_>) -> StatementFailure {
    if failure.error.kind == ErrorKind::Syntax
        && let Some((message, _)) = failure.error.message.split_once(" at byte ")
    {
        failure.error.message = format!("{message} of one of the steps");
        return failure;
    }
    let error = of_search(failure.error, || steps.steps.iter().any(|step| searches(&step.text)));
    StatementFailure { error, ..failure }
}
