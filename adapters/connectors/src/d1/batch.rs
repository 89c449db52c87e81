//! Several statements as one batch: D1 carries out all of it or nothing. The result of a statement
//! is known when all are done, so no step of a transaction can take a value of another one, and
//! what is expected of one is checked by a statement of its own behind it.

use millrace_catalogue as catalogue;
use millrace_core::{
    ErrorKind, Result,
    ports::{BoundTransaction, CALL_RECORDS, CallRecord, LocalFuture, Query},
    value::{Rows, Value},
};

use super::{database::D1, reply::Reply, statement::Prepared};
use crate::{
    shared::{
        Effect, OwnStatements, Records, Statement, StatementFailure,
        batch::{Batches, RecordPlace},
        records::RecordStatement,
    },
    sqlite_text::{
        changes_rows, expectation, of_search,
        records::{COUNT, COUNT_NONE, FORGET, INSERT, RECORDS, counted, of_no_table},
        searches,
    },
};

/// What the author wrote.
pub(crate) enum Written<'a> {
    /// A statement.
    Statement(Prepared<'a>, &'a str),
    /// The steps of a transaction.
    Steps(BoundTransaction<'a>, Vec<Sent<'a>>),
}

/// A statement of a batch: that of a step, or what checks one.
pub(crate) struct Sent<'a> {
    prepared: Prepared<'a>,
    is_step: bool,
}

impl Written<'_> {
    /// What all of it does together.
    pub(super) fn effect(&self) -> Effect {
        match self {
            Self::Statement(prepared, _) => prepared.effect,
            Self::Steps(_, sent) => Effect { reads: sent.iter().all(|sent| sent.prepared.effect.reads), returns: true },
        }
    }
}

impl D1 {
    /// Runs what the author wrote, in a batch where it has steps.
    pub(super) async fn attempt(&self, query: &Query<'_>, written: &Written<'_>) -> Result<Rows, StatementFailure> {
        match written {
            Written::Statement(prepared, _) => self.transport.send(prepared, query).await?.into_rows(prepared),
            Written::Steps(steps, sent) => self.attempt_steps(query, steps, sent, Vec::new()).await,
        }
    }

    /// Sends `before` and a statement as one batch, which notes how many rows it changed where it
    /// returns none.
    async fn attempt_noted(
        &self,
        query: &Query<'_>,
        prepared: &Prepared<'_>,
        noted: &Prepared<'_>,
        mut batch: Vec<Prepared<'_>>,
    ) -> Result<Rows, StatementFailure> {
        let place = batch.len();
        batch.push(prepared.clone());
        if !prepared.effect.returns {
            batch.push(noted.clone());
        }
        let mut replies = self.transport.send_batch(&batch, place, query).await?;
        let last = replies.pop().zip(batch.last());
        let rows = last.map(|(reply, statement)| reply.into_rows(statement)).transpose()?.unwrap_or_default();
        Ok(if prepared.effect.returns { rows } else { counted(&rows) })
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

/// The values of a statement about records.
fn values(statement: &RecordStatement, record: CallRecord<'_>) -> Vec<Value> {
    statement.values(record, &Value::Null)
}

impl OwnStatements for &D1 {
    fn run_own<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(async move {
            let prepared = Prepared::of(own.text, own.values, self.transport.takes_bytes()).map_err(StatementFailure::last)?;
            self.transport.send(&prepared, query).await?.into_rows(&prepared)
        })
    }
}

impl Batches for &D1 {
    type Written<'w> = Written<'w>;
    type Failure = StatementFailure;
    const PAUSES_MS: &'static [u64] = &[];
    const RECORDS: Records = RECORDS;
    const HAS_TABLES_AT_ONCE: bool = false;

    async fn put(&mut self, query: &Query<'_>, written: &Self::Written<'_>, record: CallRecord<'_>) -> Result<Rows, StatementFailure> {
        let own = |text, values| Prepared::of(text, values, self.transport.takes_bytes()).map_err(StatementFailure::last);
        let puts = [&RECORDS.sweep, &FORGET, &INSERT];
        let of_puts = puts.map(|put| values(put, record));
        let before = puts.iter().zip(&of_puts).map(|(put, values)| own(put.text, values)).collect::<Result<Vec<_>, _>>()?;
        match written {
            Written::Statement(prepared, text) => {
                let count = if changes_rows(text) { COUNT } else { COUNT_NONE };
                let of_count = values(&count, record);
                self.attempt_noted(query, prepared, &own(count.text, &of_count)?, before).await
            }
            Written::Steps(steps, sent) => self.attempt_steps(query, steps, sent, before).await,
        }
    }

    fn place(failure: &StatementFailure) -> RecordPlace {
        let is_named = || failure.error.source.as_deref().is_some_and(|words| words.contains(CALL_RECORDS));
        match failure.error.kind {
            _ if of_no_table(failure) => RecordPlace::Missing,
            ErrorKind::Constraint if is_named() => RecordPlace::Taken,
            _ => RecordPlace::Unclear,
        }
    }
}

/// What the statements of a batch are made of.
pub(super) struct Steps {
    /// The values of each step.
    values: Vec<Vec<Value>>,
    /// What checks each step, and whether it takes the step's values.
    guards: Vec<Option<(String, bool)>>,
}

impl Steps {
    /// Reads the steps; sends nothing.
    ///
    /// # Errors
    /// Those of a step, with its name.
    pub(super) fn of(steps: &BoundTransaction<'_>) -> Result<Self> {
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

    /// The statements of the batch.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(super) fn prepare<'a>(&'a self, steps: &'a BoundTransaction<'_>, takes_bytes: bool) -> Result<Vec<Sent<'a>>> {
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

/// D1 does not say which of the statements failed, so that a place in one of them says nothing, and
/// a failure without one may be that of any that searches.
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
