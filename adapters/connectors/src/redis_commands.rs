//! Commands of Redis: what the connectors `redis` and `upstash` do alike, whatever carries a
//! command.
//!
//! | | |
//! |---|---|
//! | [`Prepared`] | a command's arguments, and what is known of the command |
//! | [`rows_of`] | the rows of a reply |
//! | [`failure_of`] | what an error of the server means |

mod arguments;
mod failure;
mod names;
mod rows;

pub(crate) use arguments::Prepared;
pub(crate) use failure::{ErrorPlace, failure_of};
pub(crate) use rows::rows_of;

/// What is asked to see whether a server answers.
pub(crate) const PING: &str = "PING";
