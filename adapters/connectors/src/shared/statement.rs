//! A statement of a driver's own, or of an app's author.

#[cfg(feature = "tcp")]
use millrace_core::ports::Query;
use millrace_core::value::Value;

#[cfg(feature = "tcp")]
use super::StatementFailure;

/// A statement and its values.
#[derive(Clone, Copy)]
pub(crate) struct Statement<'a> {
    pub(crate) text: &'a str,
    pub(crate) values: &'a [Value],
}

#[cfg(feature = "tcp")]
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
