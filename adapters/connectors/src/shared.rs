//! What the drivers of databases behind a network share: what a failure did to the database, what may be sent again, what is kept of a
//! write, the limits of a result, and the connections to a server.

pub(crate) mod call_records;
#[cfg(feature = "tcp")]
mod exact_json;
mod limits;
#[cfg(feature = "tcp")]
mod moment;
#[cfg(feature = "tcp")]
mod pool;
#[cfg(feature = "tcp")]
mod read_only;
mod retry;
#[cfg(feature = "tcp")]
mod server_options;
#[cfg(feature = "tcp")]
mod socket_options;
#[cfg(feature = "tcp")]
mod within;

#[cfg(feature = "tcp")]
use std::net::IpAddr;

use millrace_core::{
    Error, ErrorKind,
    app::{Access, OnTooMany},
    ports::{Command, Query},
};

pub(crate) use call_records::{kept, made_before};
#[cfg(feature = "tcp")]
pub(crate) use exact_json::{exact_json, is_json_number};
pub(crate) use limits::{max_response_bytes, only_reads, within_limits};
#[cfg(feature = "tcp")]
pub(crate) use moment::utc_text;
#[cfg(feature = "tcp")]
pub(crate) use pool::{ANSWER_MS, ASKED_AFTER_MS, Pool, Pooled};
#[cfg(feature = "tcp")]
pub(crate) use read_only::ReadOnly;
#[cfg(feature = "tcp")]
pub(crate) use retry::words;
pub use retry::{Effect, Execution, Retry, StatementFailure};
#[cfg(feature = "tcp")]
pub(crate) use server_options::{KnownOptions, ServerOptions};
#[cfg(feature = "tcp")]
pub(crate) use socket_options::{Encryption, check_roots};
#[cfg(feature = "tcp")]
pub(crate) use within::{soon, within};

/// The most characters of an upstream's text that are kept for the log.
const LONGEST_SOURCE: usize = 500;

/// Whether a host is this machine.
#[cfg(feature = "tcp")]
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Percent codes for all that has a meaning in a URL, or none.
#[cfg(feature = "tcp")]
pub(crate) fn percent_coded(text: &str) -> String {
    let code = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(code).collect()
}

/// A query of a driver's own, which reads at most one small row: no caller's, so nothing of a session is set.
pub(crate) const fn own_query(text: &'static str, deadline_ms: u64) -> Query<'static> {
    Query {
        command: Command::Statement { text, values: &[] },
        session: &[],
        access: Access::Read,
        deadline_ms,
        max_rows: 1,
        on_too_many: OnTooMany::Error,
        max_bytes: 64,
        caller: None,
    }
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
