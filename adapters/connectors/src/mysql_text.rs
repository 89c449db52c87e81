//! MySQL's language as text: what the connectors `mysql` and `planetscale` do alike, whatever carries a statement.
//!
//! | | |
//! |---|---|
//! | [`connection_pairs`] | connection strings |
//! | [`check`] | which statements are refused |
//! | [`Parameter`] | what a value is to MySQL |
//! | [`cell`] | what cells are made of |
//! | [`of_statement`] | what an error means |
//! | [`transaction`] | the steps of a transaction |
//! | [`once`] | a write with its record |
//!
//! The last two run over a [`Session`], which each of the connectors has a form of.

mod address;
mod bind;
pub(crate) mod cell;
pub(crate) mod once;
mod server_error;
mod session;
mod statement;
pub(crate) mod transaction;

pub(crate) use address::connection_pairs;
pub(crate) use bind::Parameter;
pub(crate) use millrace_languages::pieces::is_word;
pub(crate) use server_error::{
    NO_STATEMENT_LEFT, NO_TABLE, ServerError, UNKNOWN_SETTING, UNKNOWN_STATEMENT, number_of, of_login, of_statement,
};
pub(crate) use session::{Session, Transaction};
pub(crate) use statement::{Checked, Token, calls_function, check, token};
