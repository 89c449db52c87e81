//! A statement of a driver's own, or of an app's author.

use millrace_core::{
    Error, ErrorKind,
    ports::{LocalFuture, Query},
    value::{Rows, Value},
};
use millrace_languages::refusal::{Refusal, Why};

use super::StatementFailure;

/// A statement and its values.
#[derive(Clone, Copy)]
pub(crate) struct Statement<'a> {
    pub(crate) text: &'a str,
    pub(crate) values: &'a [Value],
}

#[cfg(feature = "databases")]
impl<'a> Statement<'a> {
    /// That of a query.
    ///
    /// # Errors
    /// The query has another command.
    pub(crate) fn of(query: &Query<'a>, connector: &str) -> Result<Self, StatementFailure> {
        let (text, values) = query.command.statement(connector).map_err(StatementFailure::last)?;
        Ok(Self { text, values })
    }
}

/// The error for a statement that a connector does not send:
/// [`Denied`](ErrorKind::Denied), or [`Syntax`](ErrorKind::Syntax) where it is not one statement.
pub(crate) fn not_sent(connector: &str, refusal: &Refusal) -> Error {
    match &refusal.why {
        Why::Unread(unread) => Error::new(ErrorKind::Syntax, unread.of_statement()),
        Why::Nothing => Error::new(ErrorKind::Syntax, "the query contains no statement"),
        Why::Second => Error::new(ErrorKind::Syntax, "the query contains more than one statement"),
        Why::NotRun(what) => Error::new(ErrorKind::Denied, format!("connector `{connector}` does not run {what}")),
    }
}

/// What runs statements of the driver's own.
pub(crate) trait OwnStatements {
    /// Runs a statement of the driver's own, in a transaction of its own.
    ///
    /// # Errors
    /// What the server said, and what that means for another attempt.
    fn run_own<'a>(&'a mut self, own: Statement<'a>, query: &'a Query<'a>) -> LocalFuture<'a, Result<Rows, StatementFailure>>;
}
