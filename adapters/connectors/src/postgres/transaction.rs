//! The steps of a transaction, one after the other, so that each can take values of the results before it.

use millrace_catalogue::POSTGRES;
use millrace_core::{
    Error, ErrorKind,
    app::Access,
    ports::{BoundTransaction, Command, Query},
    value::{Rows, Value},
};

use super::{
    lists::{Listed, Lists},
    session::{Batch, IDLE, IN_TRANSACTION, Session, Transaction, commands},
};
use crate::{
    postgres_text::{self, lists::has_lists},
    shared::StatementFailure,
};

/// Sets for how long a statement may run in the transaction that is open, and for how long that may be idle.
pub(super) const TIMEOUT: &str =
    "SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)";
/// What an idle transaction may outlive the deadline by, in milliseconds.
const IDLE_MARGIN_MS: u64 = 1000;

/// Looks at the statements before anything is sent.
///
/// # Errors
/// Those of [`postgres_text::check`], with the name of the step.
pub(super) fn check(steps: &BoundTransaction<'_>, has_session: bool) -> Result<(), Error> {
    let check = |(place, step): (usize, &millrace_core::ports::BoundStep<'_>)| {
        postgres_text::check(POSTGRES.name, &step.text, has_session).map_err(|error| steps.of_step(place, error))
    };
    steps.steps.iter().enumerate().try_for_each(check)
}

/// Begins a transaction, runs the steps and commits it.
///
/// # Errors
/// What the server said, and what that means for another attempt: before the `COMMIT` nothing has taken effect, whatever broke.
pub(super) async fn run(
    session: &mut Session,
    lists: &Lists<'_>,
    steps: &BoundTransaction<'_>,
    query: &Query<'_>,
    read_only: bool,
) -> Result<Rows, StatementFailure> {
    // Statements that only read see one state of the data.
    let begin = match (steps.access(), read_only) {
        (Access::Read | Access::Declared, true) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        (Access::Read | Access::Declared, false) => "BEGIN ISOLATION LEVEL REPEATABLE READ",
        (Access::Write, true) => "BEGIN READ ONLY",
        (Access::Write, false) => "BEGIN",
    };
    let timeouts = idle_timeouts(lists.left_ms(query), lists.left_ms(query));
    let begin = commands(&[(begin, &[]), (TIMEOUT, &timeouts)]).map_err(StatementFailure::last)?;
    // Until the end is asked for, nothing has been written for good.
    let undone = &Query { access: Access::Read, ..query.clone() };
    session.step(&begin, 0, undone, IN_TRANSACTION).await.map_err(StatementFailure::before_the_end)?;
    let rows = within(session, lists, steps, query).await?;
    let end = commands(&[("COMMIT", &[])]).map_err(StatementFailure::last)?;
    session.step(&end, 0, query, IDLE).await.map_err(at_the_end)?;
    Ok(rows)
}

/// Runs the steps in the transaction that is open. After an error it is no longer.
///
/// # Errors
/// As [`run`].
pub(super) async fn within(
    session: &mut Session,
    lists: &Lists<'_>,
    steps: &BoundTransaction<'_>,
    query: &Query<'_>,
) -> Result<Rows, StatementFailure> {
    let mut results = Vec::with_capacity(steps.steps.len());
    for (place, step) in steps.steps.iter().enumerate() {
        let rows = match steps.values(place, &results) {
            Ok(values) => {
                let max_bytes = query.max_bytes.saturating_sub(BoundTransaction::kept_bytes(&results));
                let own = Query { max_bytes, ..query.clone() };
                one(session, lists, (&step.text, &values), place == 0, &own).await
            }
            Err(error) => {
                session.give_up().await.map_err(StatementFailure::before_the_end)?;
                return Err(StatementFailure::last(error));
            }
        };
        let rows = rows.map_err(|StatementFailure { error, outcome }| {
            StatementFailure { error: steps.of_step(place, error), outcome }.before_the_end()
        })?;
        if let Err(error) = steps.take(&mut results, rows) {
            session.give_up().await.map_err(StatementFailure::before_the_end)?;
            return Err(StatementFailure::last(error));
        }
    }
    Ok(steps.answer(results))
}

async fn one(
    session: &mut Session,
    lists: &Lists<'_>,
    (text, values): (&str, &[Value]),
    is_first: bool,
    query: &Query<'_>,
) -> Result<Rows, StatementFailure> {
    // What the session sets holds until the transaction ends.
    let settings = if is_first { query.session } else { &[] };
    let unmarked = text;
    let marked = query.session_digest().map(|digest| format!("/* session {digest} */ {text}"));
    let text = marked.as_deref().unwrap_or(text);
    let own = Query { command: Command::Statement { text, values }, access: Access::Read, ..query.clone() };
    if !has_lists(values) {
        let batch = Batch::of(text, values, Transaction::Implied, query).map_err(StatementFailure::last)?.with_settings(settings);
        return session.run_within(&batch, &own, lists.left_ms(query)).await;
    }
    let listed = Listed { text, unmarked, values, settings: query.session, is_within: true };
    listed.run_within(session, lists, &own, settings).await
}

/// What is not understood of the answer to the `COMMIT` leaves open what became of it.
fn at_the_end(failure: StatementFailure) -> StatementFailure {
    if failure.error.kind == ErrorKind::Protocol { StatementFailure::unknown(failure.error) } else { failure }
}

/// The values of [`TIMEOUT`].
pub(super) fn idle_timeouts(statement_ms: u64, left_ms: u64) -> [Value; 2] {
    [statement_ms.max(1), left_ms.saturating_add(IDLE_MARGIN_MS)].map(|ms| Value::Text(ms.min(i32::MAX as u64).to_string()))
}
