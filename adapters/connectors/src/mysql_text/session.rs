//! What runs statements one after the other, whatever carries them.

use millrace_core::{
    ports::Query,
    value::{Rows, Value},
};

use crate::shared::StatementFailure;

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

/// A session with a server: what one statement sets, the next one finds.
///
/// # Errors
/// Those of all functions: what the server said, and what that means for another attempt.
pub(crate) trait Session {
    /// Runs a statement, which the server ends after `limit_ms`, where it can be told so.
    async fn run(
        &mut self,
        text: &str,
        values: &[Value],
        query: &Query<'_>,
        transaction: Transaction,
        limit_ms: u64,
    ) -> Result<Rows, StatementFailure>;

    /// Runs a statement of the app's author in the transaction that is open. Dropped before it has ended, it is ended on the server, where that
    /// can be done.
    async fn run_step(&mut self, text: &str, values: &[Value], query: &Query<'_>, limit_ms: u64) -> Result<Rows, StatementFailure> {
        self.run(text, values, query, Transaction::Open, limit_ms).await
    }

    /// Begins a transaction. Its statements wait so long for a lock, and no longer.
    async fn begin(&mut self, limit_ms: u64, read_only: bool) -> Result<(), StatementFailure>;

    /// Lets the server forget which number it gave to the last row that it was to number.
    async fn forget_inserted(&mut self) -> Result<(), StatementFailure>;

    /// Commits the transaction that is open.
    async fn commit(&mut self) -> Result<(), StatementFailure>;

    /// Ends the transaction that is open, if the session still works.
    async fn roll_back(&mut self);

    /// Ends the transaction that is open, after a failure in it; the failure, and what could not be undone.
    async fn undo(&mut self, failure: StatementFailure) -> StatementFailure;
}
