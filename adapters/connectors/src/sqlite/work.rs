//! An open database at work on a call. It waits for nothing: a database that is locked is an error,
//! after which the call is attempted again.

use std::{
    future::Future,
    pin::pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Clock, Command, LocalFuture, Query},
    value::Rows,
};

use super::session::{OpenTransaction, Session};
use crate::{
    shared::{self, Begin, FailedEnd, OwnStatements, Statement, StatementFailure, own_steps},
    sqlite_text::records::{RECORDS, of_no_table},
};

/// A database at work.
pub(super) struct Work<'a> {
    session: &'a Session,
    open: Option<OpenTransaction<'a>>,
    clock: &'a Rc<dyn Clock>,
}

impl<'a> Work<'a> {
    pub(super) const fn new(session: &'a Session, clock: &'a Rc<dyn Clock>) -> Self {
        Self { session, open: None, clock }
    }
}

/// The outcome of work that waits for nothing.
///
/// # Errors
/// Its own.
pub(super) fn outcome<T>(work: impl Future<Output = Result<T, StatementFailure>>) -> Result<T> {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome.map_err(|failure| failure.error),
        Poll::Pending => Err(Error::new(ErrorKind::Protocol, "SQLite was waited for")),
    }
}

impl OwnStatements for Work<'_> {
    fn run_own<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>> {
        Box::pin(async move {
            let command = Command::Statement { text: own.text, values: own.values };
            self.session.run_own(&Query { command, ..query.clone() }).map_err(StatementFailure::last)
        })
    }
}

impl shared::Session for Work<'_> {
    fn clock(&self) -> Rc<dyn Clock> {
        self.clock.clone()
    }

    async fn run(&mut self, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        self.session.run(query).map_err(StatementFailure::last)
    }

    async fn begin(&mut self, begin: Begin, own: &[Statement<'_>], query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let writes = !begin.reads && !begin.is_read_only;
        self.open = Some(self.session.begin(writes).map_err(StatementFailure::last)?);
        let mut rows = Rows::default();
        for own in own {
            rows = match self.own_step(*own, query).await {
                Err(failure) if of_no_table(&failure) => {
                    // Made in the transaction, the table is not left of a write that fails.
                    for text in RECORDS.makes {
                        self.own_step(Statement { text, values: &[] }, query).await?;
                    }
                    self.own_step(*own, query).await?
                }
                outcome => outcome?,
            };
        }
        Ok(rows)
    }

    async fn step(&mut self, query: &Query<'_>, _is_first: bool) -> Result<Rows, StatementFailure> {
        self.session.run_within(query).map_err(StatementFailure::last)
    }

    async fn own_step(&mut self, own: Statement<'_>, query: &Query<'_>) -> Result<Rows, StatementFailure> {
        let command = Command::Statement { text: own.text, values: own.values };
        self.session.run_own_within(&Query { command, ..query.clone() }).map_err(StatementFailure::last)
    }

    async fn commit(&mut self, own: &[Statement<'_>], query: &Query<'_>) -> Result<(), FailedEnd> {
        own_steps(self, own, query).await?;
        let committed = self.open.take().map_or(Ok(()), OpenTransaction::commit);
        committed.map_err(|error| FailedEnd { place: own.len(), failure: StatementFailure::last(error) })
    }

    async fn roll_back(&mut self) {
        self.open = None;
    }
}
