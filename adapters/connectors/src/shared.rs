//! What drivers share, whatever their language.
//!
//! | | |
//! |---|---|
//! | `Connections` | the life of a connection |
//! | `Retry` | what a failure did to the database, and what may be sent again |
//! | `RowSink` | the rows of a result, counted, cut and refused |
//! | `Session`, `SessionDriver` | what runs statements one after the other, and a driver over it |
//! | `transaction` | the steps of a transaction, in a session |
//! | `records`, `batch` | the record of a call that must happen once, in a session and in a batch |

pub(crate) mod batch;
#[cfg(feature = "databases")]
mod connections;
#[cfg(any(feature = "databases", feature = "sqlite"))]
mod driver;
#[cfg(feature = "databases")]
mod exact_json;
mod limits;
#[cfg(feature = "databases")]
pub(crate) mod moment;
#[cfg(feature = "databases")]
mod pool;
#[cfg(any(feature = "databases", feature = "sqlite"))]
mod read_only;
pub(crate) mod records;
mod retry;
#[cfg(any(feature = "databases", feature = "sqlite"))]
mod row_sink;
#[cfg(feature = "databases")]
mod server_options;
#[cfg(any(feature = "databases", feature = "sqlite"))]
mod session;
#[cfg(feature = "databases")]
mod socket_options;
mod statement;
#[cfg(any(feature = "databases", feature = "sqlite"))]
mod transaction;
#[cfg(any(feature = "databases", feature = "sqlite"))]
mod within;

#[cfg(feature = "databases")]
use std::net::IpAddr;

use millrace_core::{
    Error, ErrorKind,
    ports::{Command, Query},
};

#[cfg(feature = "databases")]
pub(crate) use connections::{Connections, Progress, Server};
#[cfg(all(feature = "databases", feature = "describe"))]
pub(crate) use driver::REPEATABLE;
#[cfg(any(feature = "databases", feature = "sqlite"))]
pub(crate) use driver::{Call, SessionDriver, StatementNotes, StatementPlace, connector_over_sessions};
#[cfg(feature = "databases")]
pub(crate) use exact_json::{exact_json, is_json_number};
pub(crate) use limits::{max_response_bytes, only_reads, within_limits};
#[cfg(feature = "databases")]
pub(crate) use moment::utc_text;
#[cfg(feature = "databases")]
pub(crate) use pool::{ANSWER_MS, ASKED_AFTER_MS, Pool, Pooled};
#[cfg(any(feature = "databases", feature = "sqlite"))]
pub(crate) use read_only::ReadOnly;
pub(crate) use records::{Records, kept};
pub(crate) use retry::UNTRUSTED;
pub use retry::{Effect, Execution, Retry, StatementFailure};
#[cfg(any(feature = "databases", feature = "sqlite"))]
pub(crate) use row_sink::RowSink;
#[cfg(feature = "databases")]
pub(crate) use row_sink::{broken_off, too_large};
#[cfg(feature = "databases")]
pub(crate) use server_options::{KnownOptions, ServerOptions};
#[cfg(any(feature = "databases", feature = "sqlite"))]
pub(crate) use session::{AnySession, Begin, FailedEnd, Session, own_steps};
#[cfg(feature = "databases")]
pub(crate) use socket_options::{Encryption, check_roots};
pub(crate) use statement::{OwnStatements, Statement, not_sent};
#[cfg(any(feature = "databases", feature = "sqlite"))]
pub(crate) use within::{soon, within};

/// The most characters of an upstream's text that are kept for the log.
const LONGEST_SOURCE: usize = 500;

/// Whether a host is this machine.
#[cfg(feature = "databases")]
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A query of a driver's own, which reads at most one small row: no caller's, so nothing of a
/// session is set.
pub(crate) const fn own_query(text: &'static str, deadline_ms: u64) -> Query<'static> {
    Query::reading(Command::Statement { text, values: &[] }, deadline_ms, 1, 64)
}

/// An upstream's own words, short enough for a log line.
pub(crate) fn excerpt(text: &str) -> String {
    text.trim().chars().take(LONGEST_SOURCE).collect()
}

/// A statement whose deadline passed.
#[must_use]
pub fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "the statement ran past its deadline")
}
