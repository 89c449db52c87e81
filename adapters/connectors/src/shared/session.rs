//! What runs statements one after the other, whatever carries them: what one statement sets, the
//! next one finds.

use std::rc::Rc;

use millrace_core::{
    ports::{Clock, LocalFuture, Query},
    value::Rows,
};

use super::{OwnStatements, Statement, StatementFailure};

/// How a transaction begins.
#[derive(Clone, Copy, Default)]
pub(crate) struct Begin {
    /// How long its first statements wait for a lock, in milliseconds; else as long as the call.
    pub(crate) wait_ms: Option<u64>,
    /// Its statements only read: they see one state of the data, and nothing needs a commit.
    pub(crate) reads: bool,
    /// The database refuses what writes in it.
    pub(crate) is_read_only: bool,
}

/// Why a transaction could not be ended.
pub(crate) struct FailedEnd {
    /// The place of the statement that failed; one more than there are for the `COMMIT`.
    pub(crate) place: usize,
    pub(crate) failure: StatementFailure,
}

/// A session with a server, at work on a call.
///
/// # Errors
/// Those of all functions: what the server said, and what that means for another attempt.
pub(crate) trait Session: OwnStatements {
    /// Whether all that was done in a transaction is undone where its connection breaks.
    const UNDOES_ALL: bool = true;

    /// Whether a statement asks which number the last row got.
    fn asks_for_inserted(_text: &str) -> bool {
        false
    }

    /// Wall time.
    fn clock(&self) -> Rc<dyn Clock>;

    /// Runs the statement of a query, in a transaction of its own.
    async fn run(&mut self, query: &Query<'_>) -> Result<Rows, StatementFailure>;

    /// Begins a transaction, and runs statements of the driver's own in it: what the last one
    /// returns.
    async fn begin(&mut self, begin: Begin, own: &[Statement<'_>], query: &Query<'_>) -> Result<Rows, StatementFailure>;

    /// Whether a transaction was begun, which may have ended since.
    fn has_begun(&self) -> bool {
        true
    }

    /// Lets the server forget which number it gave to the last row that it was to number.
    async fn forget_inserted(&mut self) -> Result<(), StatementFailure> {
        Ok(())
    }

    /// Runs the statement of a query in the transaction that is open, after what the adapter's
    /// session sets where it `is_first`. Dropped before it has ended, it is ended on the server,
    /// where that can be done.
    async fn step(&mut self, query: &Query<'_>, is_first: bool) -> Result<Rows, StatementFailure>;

    /// Runs a statement of the driver's own in the transaction that is open.
    async fn own_step(&mut self, own: Statement<'_>, query: &Query<'_>) -> Result<Rows, StatementFailure>;

    /// Runs statements of the driver's own in the transaction that is open, and commits it.
    async fn commit(&mut self, own: &[Statement<'_>], query: &Query<'_>) -> Result<(), FailedEnd>;

    /// Ends the transaction that is open, if the session still works.
    async fn roll_back(&mut self);

    /// Ends the transaction that is open, after a failure in it; the failure, and what could not be
    /// undone.
    async fn undo(&mut self, failure: StatementFailure) -> StatementFailure {
        self.roll_back().await;
        failure
    }
}

/// A [`Session`] of any driver, for what is done in all of them alike: it is compiled once, and not
/// for each driver.
pub(crate) trait AnySession: OwnStatements {
    /// As [`Session::UNDOES_ALL`].
    fn undoes_all(&self) -> bool;

    /// As [`Session::asks_for_inserted`].
    fn asks_for_inserted(&self, text: &str) -> bool;

    /// As [`Session::clock`].
    fn clock(&self) -> Rc<dyn Clock>;

    /// As [`Session::begin`].
    fn begin<'a>(
        &'a mut self,
        begin: Begin,
        own: &'a [Statement<'a>],
        query: &'a Query<'a>,
    ) -> LocalFuture<'a, Result<Rows, StatementFailure>>;

    /// As [`Session::has_begun`].
    fn has_begun(&self) -> bool;

    /// As [`Session::forget_inserted`].
    fn forget_inserted(&mut self) -> LocalFuture<'_, Result<(), StatementFailure>>;

    /// As [`Session::step`].
    fn step<'a>(&'a mut self, query: &'a Query<'a>, is_first: bool) -> LocalFuture<'a, Result<Rows, StatementFailure>>;

    /// As [`Session::own_step`].
    fn own_step<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>>;

    /// As [`Session::commit`].
    fn commit<'a>(&'a mut self, own: &'a [Statement<'a>], query: &'a Query<'a>) -> LocalFuture<'a, Result<(), FailedEnd>>;

    /// As [`Session::roll_back`].
    fn roll_back(&mut self) -> LocalFuture<'_, ()>;

    /// As [`Session::undo`].
    fn undo(&mut self, failure: StatementFailure) -> LocalFuture<'_, StatementFailure>;
}

impl<S: Session> AnySession for S {
    fn undoes_all(&self) -> bool {
        S::UNDOES_ALL
    }

    fn asks_for_inserted(&self, text: &str) -> bool {
        S::asks_for_inserted(text)
    }

    fn clock(&self) -> Rc<dyn Clock> {
        Session::clock(self)
    }

    fn begin<'a>(
        &'a mut self,
        begin: Begin,
        own: &'a [Statement<'a>],
        query: &'a Query<'a>,
    ) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(Session::begin(self, begin, own, query))
    }

    fn has_begun(&self) -> bool {
        Session::has_begun(self)
    }

    fn forget_inserted(&mut self) -> LocalFuture<'_, Result<(), StatementFailure>> {
        Box::pin(Session::forget_inserted(self))
    }

    fn step<'a>(&'a mut self, query: &'a Query<'a>, is_first: bool) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(Session::step(self, query, is_first))
    }

    fn own_step<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(Session::own_step(self, own, query))
    }

    fn commit<'a>(&'a mut self, own: &'a [Statement<'a>], query: &'a Query<'a>) -> LocalFuture<'a, Result<(), FailedEnd>> {
        Box::pin(Session::commit(self, own, query))
    }

    fn roll_back(&mut self) -> LocalFuture<'_, ()> {
        Box::pin(Session::roll_back(self))
    }

    fn undo(&mut self, failure: StatementFailure) -> LocalFuture<'_, StatementFailure> {
        Box::pin(Session::undo(self, failure))
    }
}

/// Runs statements of the driver's own in the transaction that is open, one after the other, before
/// the one that commits it.
pub(crate) async fn own_steps(session: &mut impl Session, own: &[Statement<'_>], query: &Query<'_>) -> Result<(), FailedEnd> {
    for (place, own) in own.iter().enumerate() {
        let outcome = session.own_step(*own, query).await;
        outcome.map_err(|failure| FailedEnd { place, failure: failure.before_the_end() })?;
    }
    Ok(())
}
