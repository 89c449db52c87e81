//! The steps of a transaction, one after the other, so that each can take values of the results
//! before it.

use millrace_core::{
    ErrorKind,
    app::{Access, OnTooMany},
    ports::{BoundTransaction, Command, Query},
    value::Rows,
};

use super::{AnySession, Begin, FailedEnd, StatementFailure};

/// Begins a transaction, runs the steps and commits it.
///
/// # Errors
/// What the server said, and what that means for another attempt. Where a server may keep what was
/// done, a connection that breaks after a step that writes leaves it open whether something took
/// effect.
pub(crate) async fn run(
    session: &mut dyn AnySession,
    steps: &BoundTransaction<'_>,
    query: &Query<'_>,
    is_read_only: bool,
) -> Result<Rows, StatementFailure> {
    let begin = Begin { wait_ms: None, reads: steps.access().reads(), is_read_only };
    if let Err(failure) = session.begin(begin, &[], query).await {
        return Err(session.undo(failure.before_the_end()).await);
    }
    let is_undone = session.undoes_all();
    let rows = match run_steps(session, steps, query, is_undone).await {
        Ok(rows) => rows,
        Err(failure) => return Err(session.undo(failure).await),
    };
    match session.commit(&[], query).await {
        Ok(()) => Ok(rows),
        // What is not understood of the answer leaves open what became of it.
        Err(FailedEnd { failure, .. }) if failure.error.kind == ErrorKind::Protocol => Err(StatementFailure::unknown(failure.error)),
        Err(FailedEnd { failure, .. }) => Err(failure),
    }
}

/// Runs the steps in the transaction that is open. `is_undone`: whatever breaks before the commit,
/// all of them are.
///
/// # Errors
/// As [`run`]. The transaction is to be rolled back then.
pub(crate) async fn run_steps(
    session: &mut dyn AnySession,
    steps: &BoundTransaction<'_>,
    query: &Query<'_>,
    is_undone: bool,
) -> Result<Rows, StatementFailure> {
    if steps.steps.iter().any(|step| session.asks_for_inserted(&step.text)) {
        // What it says then is of a step before, and not of another call.
        session.forget_inserted().await.map_err(StatementFailure::before_the_end)?;
    }
    // What a transaction changed is not half reported.
    let on_too_many = if steps.access().reads() { query.on_too_many } else { OnTooMany::Error };
    // Until the end nothing has been written for good; what only reads is refused as ever where it
    // writes.
    let access = if query.is_guarded() { query.access } else { Access::Read };
    let mut results = Vec::with_capacity(steps.steps.len());
    for (place, step) in steps.steps.iter().enumerate() {
        let values = steps.values(place, &results).map_err(StatementFailure::last)?;
        let max_bytes = query.max_bytes.saturating_sub(BoundTransaction::kept_bytes(&results));
        let command = Command::Statement { text: &step.text, values: &values };
        let own = Query { command, access, max_bytes, on_too_many, ..query.clone() };
        let rows = session.step(&own, place == 0).await.map_err(|StatementFailure { error, outcome }| {
            let failure = StatementFailure { error: steps.of_step(place, error), outcome };
            // A table without transactions keeps what was written, and nobody can tell any more.
            let wrote = steps.steps.iter().take(place + 1).any(|step| step.access == Access::Write);
            if wrote && !is_undone { failure } else { failure.before_the_end() }
        })?;
        steps.take(&mut results, rows).map_err(StatementFailure::last)?;
    }
    Ok(steps.answer(results))
}
