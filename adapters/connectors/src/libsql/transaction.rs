//! The steps of a transaction on one stream. Those that take no value of a result that is not known
//! yet go together; before the others, and before the commit, the results are looked at. Between
//! two requests the server holds the transaction open, and ends it by itself where the next one
//! never comes.

use millrace_catalogue::LIBSQL;
use millrace_core::{
    Error, ErrorKind, ErrorParts, Result,
    app::Access,
    ports::{BoundStep, BoundTransaction, CallRecord, Parameter, Query, RecordedWrite},
    value::{Rows, Value},
};

use super::{
    Libsql,
    hrana::{self, Condition, Step},
    records::{BEGIN, Begun, INSERTED, RecordValues, begin, begun},
};
use crate::{
    shared::{Effect, Execution, StatementFailure, kept, only_reads, within_limits},
    sqlite_text::{check, records::RECORDS},
};

impl Libsql {
    /// Runs the steps.
    pub(super) async fn transact(&self, query: &Query<'_>, steps: BoundTransaction<'_>) -> Result<Rows> {
        let effect = self.effect(query, &steps)?;
        self.retry
            .run(query, effect, async || match self.attempt_steps(query, &steps, None).await? {
                Some(RecordedWrite::Made(rows)) => Ok(rows),
                _ => Err(StatementFailure::unknown(hrana::absent())),
            })
            .await
    }

    /// Runs the steps with a record of their call.
    pub(super) async fn transact_recorded(
        &self,
        query: &Query<'_>,
        steps: BoundTransaction<'_>,
        record: CallRecord<'_>,
    ) -> Result<RecordedWrite> {
        self.effect(query, &steps)?;
        self.creating(query, async || self.attempt_steps(query, &steps, Some(record)).await).await
    }

    /// What all steps do together.
    fn effect(&self, query: &Query<'_>, steps: &BoundTransaction<'_>) -> Result<Effect> {
        query.without_session(LIBSQL.name)?;
        let mut effect = Effect { reads: true, returns: true };
        for (place, step) in steps.steps.iter().enumerate() {
            let own = check(&step.text, LIBSQL.name).map_err(|error| steps.of_step(place, error))?;
            effect.reads &= own.reads && step.access == Access::Read;
        }
        if self.read_only {
            only_reads(query, effect)?;
        }
        Ok(effect)
    }

    /// `None` where there is no table of records.
    async fn attempt_steps(
        &self,
        query: &Query<'_>,
        steps: &BoundTransaction<'_>,
        record: Option<CallRecord<'_>>,
    ) -> Result<Option<RecordedWrite>, StatementFailure> {
        let mut baton = None;
        let outcome = self.on_a_stream(query, steps, record, &mut baton).await;
        if let Some(baton) = baton.take() {
            // Closing the stream undoes what is open on it; where this fails, the server does so by
            // itself.
            drop(self.batch(query, Some(&baton), &[], true).await);
        }
        outcome
    }

    /// Leaves the baton of a stream that is still open.
    async fn on_a_stream(
        &self,
        query: &Query<'_>,
        steps: &BoundTransaction<'_>,
        record: Option<CallRecord<'_>>,
        baton: &mut Option<String>,
    ) -> Result<Option<RecordedWrite>, StatementFailure> {
        let own = record.map(RecordValues::of);
        let mut results: Vec<Rows> = Vec::with_capacity(steps.steps.len());
        while results.len() < steps.steps.len() {
            let known = results.len();
            let group = steps.steps.get(known..).unwrap_or_default();
            let count = group.iter().skip(1).take_while(|step| !takes_from(step, known)).count() + 1;
            let given = (known..known + count).map(|place| steps.values(place, &results)).collect::<Result<Vec<_>>>();
            let given = given.map_err(StatementFailure::last)?;
            let is_first = known == 0;
            let mut batch = match &own {
                _ if !is_first => Vec::new(),
                Some(own) => own.puts(steps.access()),
                None => vec![begin(steps.access())],
            };
            let before = batch.len();
            // Where a record is put, what follows depends on it, and not on the search for another
            // one behind it.
            let mut after = if own.is_some() && is_first { Some(INSERTED) } else { before.checked_sub(1).map(number) };
            for (step, values) in group.iter().zip(&given) {
                batch.push(Step { condition: after.map(Condition::ok), text: &step.text, values });
                after = Some(number(batch.len() - 1));
            }
            if baton.is_none() && !is_first {
                return Err(StatementFailure::not_executed(ended(hrana::absent())));
            }
            let sent = self.batch(query, baton.as_deref(), &batch, false).await;
            let mut reply = sent.map_err(|failure| match is_first {
                true => failure.before_the_end(),
                false => StatementFailure::not_executed(ended(failure.error)),
            })?;
            *baton = reply.baton.take();
            if is_first && own.is_some() {
                match begun(&mut reply)? {
                    Begun::Own => {}
                    Begun::Before(write) => return Ok(Some(write)),
                    Begun::NoTable => return Ok(None),
                }
            } else if is_first {
                reply.take(BEGIN).map_err(StatementFailure::before_the_end)?;
            }
            for offset in 0..count {
                let place = known + offset;
                let rows = reply
                    .take(number(before + offset))
                    .and_then(|rows| rows.ok_or_else(|| StatementFailure::not_executed(hrana::absent())));
                let rows = rows.map_err(|StatementFailure { error, outcome }| {
                    StatementFailure { error: steps.of_step(place, error), outcome }.before_the_end()
                })?;
                // All is undone where they are too many.
                let undone = Effect { reads: true, returns: true };
                let max_bytes = query.max_bytes.saturating_sub(BoundTransaction::kept_bytes(&results));
                let own = Query { max_bytes, ..query.clone() };
                let rows = within_limits(rows, &own, undone).map_err(|error| StatementFailure::last(steps.of_step(place, error)))?;
                steps.take(&mut results, rows).map_err(StatementFailure::last)?;
            }
        }
        let rows = steps.answer(results);
        let open = baton.take().ok_or_else(|| StatementFailure::not_executed(hrana::absent()))?;
        self.commit_steps(query, record, &open, rows).await.map(Some)
    }

    async fn commit_steps(
        &self,
        query: &Query<'_>,
        record: Option<CallRecord<'_>>,
        baton: &str,
        rows: Rows,
    ) -> Result<RecordedWrite, StatementFailure> {
        let store = record.map(|record| RECORDS.keep.values(record, &kept(&rows).map_or(Value::Null, Value::Bytes)));
        let mut end: Vec<Step<'_>> = store.iter().map(|values| Step { condition: None, text: RECORDS.keep.text, values }).collect();
        let stored = end.len();
        end.push(Step { condition: stored.checked_sub(1).map(|place| Condition::ok(number(place))), text: "COMMIT", values: &[] });
        let failed = Condition::Not { cond: Box::new(Condition::ok(number(stored))) };
        end.push(Step { condition: Some(failed), text: "ROLLBACK", values: &[] });
        // The server may have ended the stream before the commit or after it: only where nothing
        // was sent is it known.
        let mut reply = self.batch(query, Some(baton), &end, true).await.map_err(|failure| match failure.outcome {
            Execution::NotExecuted if record.is_none() && failure.error.kind != ErrorKind::Protocol => failure,
            _ => StatementFailure::unknown(ended(failure.error)),
        })?;
        if stored > 0 {
            reply.take(0).map_err(|failure| RECORDS.blame(failure))?;
        }
        reply.take(number(stored))?.ok_or_else(|| StatementFailure::unknown(hrana::absent()))?;
        Ok(RecordedWrite::Made(rows))
    }
}

/// Whether a step takes a value of one of the results from `known` on.
fn takes_from(step: &BoundStep<'_>, known: usize) -> bool {
    step.parameters.iter().flat_map(Parameter::earlier).any(|value| value.step >= known)
}

/// What a stream's end means to a caller.
fn ended(error: Error) -> Error {
    match error.kind {
        ErrorKind::Protocol => {
            let ErrorParts { message, source, .. } = error.into_parts();
            let ended = "the libSQL server ended the stream of the transaction";
            Error::new(ErrorKind::Unavailable, ended).with_source(source.unwrap_or(message))
        }
        _ => error,
    }
}

/// The number of a statement in its request. There are at most some dozens.
fn number(place: usize) -> u8 {
    u8::try_from(place).unwrap_or(u8::MAX)
}
