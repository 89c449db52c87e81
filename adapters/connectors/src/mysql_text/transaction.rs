//! The steps of a transaction, one after the other, so that each can take values of the results before it.

use millrace_core::{
    Error, ErrorKind,
    app::Access,
    ports::{BoundTransaction, Command, Query},
    value::Rows,
};

use super::{
    session::Session,
    statement::{self, asks_for_inserted},
};
use crate::shared::{ReadOnly, StatementFailure};

/// Looks at the statements before anything is sent. Whether one of them may leave something on the connection.
///
/// # Errors
/// Those of [`statement::check_step`], with the name of the step.
pub(crate) fn check(connector: &'static str, steps: &BoundTransaction<'_>, read_only: ReadOnly) -> Result<bool, Error> {
    let mut leaves_traces = false;
    for (place, step) in steps.steps.iter().enumerate() {
        let checked = statement::check_step(connector, &step.text, read_only);
        leaves_traces |= checked.map_err(|error| steps.of_step(place, error))?.leaves_traces;
    }
    Ok(leaves_traces)
}

/// Begins a transaction, runs the steps and commits it.
///
/// # Errors
/// What the server said, and what that means for another attempt. A connection that breaks after a step that writes leaves it open whether
/// something took effect: there are tables without transactions.
pub(crate) async fn run(
    session: &mut impl Session,
    steps: &BoundTransaction<'_>,
    query: &Query<'_>,
    (read_only, limit_ms): (bool, u64),
) -> Result<Rows, StatementFailure> {
    session.begin(limit_ms, read_only).await?;
    match within(session, steps, query, (limit_ms, false)).await {
        Ok(rows) => match session.commit().await {
            Ok(()) => Ok(rows),
            // What is not understood of the answer leaves open what became of it.
            Err(failure) if failure.error.kind == ErrorKind::Protocol => Err(StatementFailure::unknown(failure.error)),
            Err(failure) => Err(failure),
        },
        Err(failure) => Err(session.undo(failure).await),
    }
}

/// Runs the steps in the transaction that is open. With a record of the call it may be repeated, because its tables must have transactions.
///
/// # Errors
/// As [`run`]. The transaction is to be rolled back then.
pub(crate) async fn within(
    session: &mut impl Session,
    steps: &BoundTransaction<'_>,
    query: &Query<'_>,
    (limit_ms, is_recorded): (u64, bool),
) -> Result<Rows, StatementFailure> {
    if steps.steps.iter().any(|step| asks_for_inserted(&step.text)) {
        // What it says then is of a step before, and not of another call.
        session.forget_inserted().await.map_err(StatementFailure::before_the_end)?;
    }
    let mut results = Vec::with_capacity(steps.steps.len());
    for (place, step) in steps.steps.iter().enumerate() {
        let values = steps.values(place, &results).map_err(StatementFailure::last)?;
        let max_bytes = query.max_bytes.saturating_sub(BoundTransaction::kept_bytes(&results));
        let command = Command::Statement { text: &step.text, values: &values };
        let own = Query { command, access: Access::Read, max_bytes, ..query.clone() };
        let outcome = session.run_step(&step.text, &values, &own, limit_ms).await;
        let rows = outcome.map_err(|StatementFailure { error, outcome }| {
            let failure = StatementFailure { error: steps.of_step(place, error), outcome };
            // A table without transactions keeps what was written, and nobody can tell any more.
            let wrote = steps.steps.iter().take(place + 1).any(|step| step.access == Access::Write);
            if wrote && !is_recorded { failure } else { failure.before_the_end() }
        })?;
        steps.take(&mut results, rows).map_err(StatementFailure::last)?;
    }
    Ok(steps.answer(results))
}
