//! The statement compiler: the author's text with placeholders in, a [`Statement`] out in which every value is bound.

use millrace_core::app::{Input, Statement};

use crate::Problem;

/// The language of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite, libSQL, D1
    Sqlite,
    /// PostgreSQL
    Postgres,
    /// MySQL, MariaDB
    MySql,
}

/// How placeholders are filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Substitution {
    /// Values are bound.
    Bind,
    /// Values become text, as in Hyperterse; a warning says so.
    Textual,
}

/// A compiled statement, and what to say about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The statement.
    pub statement: Statement,
    /// Warnings.
    pub warnings: Vec<Problem>,
}

/// Compiles a statement.
///
/// # Errors
/// Every [`Problem`] of the statement, in order.
pub fn compile(text: &str, dialect: Dialect, substitution: Substitution, inputs: &[Input]) -> Result<Compiled, Vec<Problem>> {
    let _ = (text, dialect, substitution, inputs);
    Err(Vec::new())
}
