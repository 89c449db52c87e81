//! Transactions of MySQL's.

use millrace_core::{Result, ports::Query};

use super::statement::{check, check_step, in_transaction};
use crate::shared::{ReadOnly, StatementNotes, StatementPlace};

/// The least time that a server waits for a lock, in milliseconds.
const LEAST_WAIT_MS: u64 = 1000;

/// Whether a statement begins and ends its transaction itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transaction {
    /// The statement is one.
    Implied,
    /// The statement is a procedure's call: each statement in it may commit by itself.
    Several,
    /// Nothing may write in it.
    ReadOnly,
    /// One is open, and stays so.
    Open,
}

impl Transaction {
    /// For a statement by itself.
    pub(crate) const fn alone(is_read_only: bool, calls: bool) -> Self {
        match (is_read_only, calls) {
            (true, _) => Self::ReadOnly,
            (false, true) => Self::Several,
            (false, false) => Self::Implied,
        }
    }
}

/// How long a lock is waited for where that is told before the deadline, in milliseconds: a server
/// counts whole seconds.
pub(crate) const fn lock_wait_ms(wait_ms: u64) -> u64 {
    if wait_ms < LEAST_WAIT_MS { wait_ms } else { wait_ms / LEAST_WAIT_MS * LEAST_WAIT_MS }
}

/// Looks at a statement in its place, before anything is sent.
///
/// # Errors
/// Those of [`check`]; and what a connector cannot set for a session.
pub(crate) fn check_in(
    connector: &'static str,
    text: &str,
    read_only: ReadOnly,
    query: &Query<'_>,
    place: StatementPlace,
) -> Result<StatementNotes> {
    query.without_session(connector)?;
    let checked = match place {
        StatementPlace::Alone => check(connector, text, read_only)?,
        StatementPlace::Recorded => in_transaction(connector, check(connector, text, read_only)?, "with `idempotency`")?,
        StatementPlace::Step { .. } => check_step(connector, text, read_only)?,
    };
    Ok(StatementNotes { leaves_traces: checked.leaves_traces, calls: checked.calls() })
}
