//! MySQL's language as text: what the connectors `mysql` and `planetscale` do alike, whatever
//! carries a statement.
//!
//! | | |
//! |---|---|
//! | [`connection_pairs`] | connection strings |
//! | [`check`] | which statements are refused |
//! | [`Parameter`] | what a value is to MySQL |
//! | [`cell`] | what cells are made of |
//! | [`of_statement`] | what an error means |
//! | [`RECORDS`] | the table of the records of calls |

mod address;
mod bind;
pub(crate) mod cell;
mod records;
mod server_error;
mod statement;
mod transaction;

pub(crate) use address::connection_pairs;
pub(crate) use bind::Parameter;
pub(crate) use millrace_languages::{
    mysql::{
        asks_for_inserted,
        token::{Token, calls_function, token},
    },
    pieces::is_word,
};
pub(crate) use records::RECORDS;
pub(crate) use server_error::{
    NO_STATEMENT_LEFT, NO_TABLE, ServerError, UNKNOWN_SETTING, UNKNOWN_STATEMENT, number_of, of_login, of_statement,
};
#[cfg(feature = "describe")]
pub(crate) use statement::check;
pub(crate) use transaction::{Transaction, check_in, lock_wait_ms};
