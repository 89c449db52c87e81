//! PostgreSQL's language as text: what the connectors `postgres` and `neon` do alike, whatever
//! carries a statement.
//!
//! | | |
//! |---|---|
//! | [`check`] | which statements are refused |
//! | [`Parameter`] | what a value is to PostgreSQL |
//! | [`lists`] | what a list is in its place |
//! | [`Kind`] | what a cell is, by the number of its type |
//! | [`types`] | arrays of types that only the server knows |
//! | [`of_statement`] | what an error means |
//! | [`RECORDS`] | the table of the records of calls |

mod array;
mod bind;
mod cell;
pub(crate) mod lists;
mod records;
mod server_error;
mod statement;
pub(crate) mod types;

pub(crate) use bind::{Parameter, type_of};
pub(crate) use cell::{Elements, Kind, Scalar};
pub(crate) use millrace_languages::postgres::word;
pub(crate) use records::RECORDS;
pub(crate) use server_error::{ServerError, blame_session, is_of_statement, of_login, of_statement};
pub(crate) use statement::check;

/// The number of a type, as `pg_type.dat` has it.
pub(crate) type Oid = u32;
