//! SQLite's language as text: what every driver of its dialect does with a statement and its
//! values, wherever the database is.
//!
//! | | |
//! |---|---|
//! | [`check`] | what a statement does, and whether it is refused |
//! | [`placeholders`] | where its parameters stand |
//! | [`SqliteValue`] | what a value is to SQLite |
//! | [`error`] | what SQLite's error codes and words mean |
//! | [`expectation`] | what is expected of a step of a transaction, as a statement |
//! | [`description`] | what the declared types of columns say |
//! | [`records`] | the table of the records of calls |
//!
//! The embedded engine asks its authorizer instead of [`check`], which sees more than words; the
//! rules are the same, and one table of statements tests all drivers.

mod bound;
#[cfg(feature = "describe")]
pub(crate) mod description;
pub(crate) mod error;
pub(crate) mod expectation;
mod json_array;
mod placeholder;
pub(crate) mod records;
mod statement;

pub(crate) use bound::SqliteValue;
pub(crate) use error::of_search;
pub(crate) use placeholder::{Placeholder, placeholders};
#[cfg(feature = "sqlite")]
pub(crate) use statement::nul;
pub(crate) use statement::{before_end, changes_rows, check, searches};
