//! `connector: d1` through a Worker's binding: what of it is no JavaScript.
//!
//! D1 is SQLite behind JSON, and JSON's numbers are doubles. Three things follow, and this module does them:
//!
//! - *Going in*, a number would be bound as `REAL`: `5 / 2` would be `2.5`, and text compared with it would be compared with `'5.0'`.
//!   Integers travel as text instead and are made integers again by the database, exactly, all 64 bits ([`statement`]).
//! - *Coming out*, an integer beyond ±(2^53−1) was already rounded by D1, without a word. It is refused, with the remedy
//!   (`CAST(… AS TEXT)`), because a wrong number that looks right is worse than an error ([`answer`]). A `REAL` that has no fraction
//!   comes back as an integer: `2.0` is `2`.
//! - Errors are sentences, not codes ([`failure`]). What may be sent again is decided as for any database far away ([`crate::remote`]).
//!
//! Client API: <https://developers.cloudflare.com/d1/worker-api/>.

pub mod answer;
pub mod failure;
mod sql;
pub mod statement;

use millrace_core::{Error, ErrorKind, Result};

/// The name of the binding in a connection string, `d1:DB`.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) where it names none: `d1://ACCOUNT/DATABASE` is for hosts that are no Worker.
pub fn binding(connection_string: &str) -> Result<&str> {
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    connection_string.trim().strip_prefix("d1:").filter(is_name).ok_or_else(|| {
        let message = "the connection string of connector `d1` has to name the Worker's binding here: `d1:DB`";
        Error::new(ErrorKind::Configuration, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_strings() {
        assert_eq!(binding(" d1:DB "), Ok("DB"));
        for wrong in ["", "DB", "d1:", "d1:a b", "d1://a/b", "libsql://x"] {
            assert_eq!(binding(wrong).map_err(|error| error.kind), Err(ErrorKind::Configuration), "{wrong}");
        }
    }
}
