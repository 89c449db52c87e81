//! The table of the records of calls, in PostgreSQL's SQL, and what its failures mean.

use millrace_core::{Error, ErrorKind};
use millrace_languages::call_records::postgres::{CREATE_INDEX, CREATE_TABLE, FIND, FORGET, KEEP, PUT, SWEEP};

use crate::shared::records::{
    Field::{Expires, Key, Most, Now, Rows},
    RecordStatement, Records, wait_ms,
};

/// Lets the constraints that are checked at the end be checked as the caller.
const CHECK_NOW: &str = "SET CONSTRAINTS ALL IMMEDIATE";
/// Gives back the role of a session.
const OWN_ROLE: &str = "SELECT set_config('role', 'none', true)";

/// What is done with it.
pub(crate) const RECORDS: Records = Records {
    makes: &[CREATE_TABLE, CREATE_INDEX],
    puts: &[RecordStatement { text: FORGET, fields: &[Key, Now] }, RecordStatement { text: PUT, fields: &[Key, Expires] }],
    find: RecordStatement { text: FIND, fields: &[Key] },
    probe: RecordStatement { text: FIND, fields: &[Key] },
    take: None,
    keep: RecordStatement { text: KEEP, fields: &[Key, Rows] },
    sweep: RecordStatement { text: SWEEP, fields: &[Now, Most] },
    sweeps_within: true,
    ends_session: &[CHECK_NOW, OWN_ROLE],
    largest: usize::MAX,
    wait_ms,
    is_said,
    is_missing,
    is_made_by_another,
    is_running: |error| error.kind == ErrorKind::TimedOut || is_code(error, "55P03"),
};

/// Whether a code of PostgreSQL's stands before the words of an error.
fn is_said(error: &Error) -> bool {
    let code = error.source.as_deref().and_then(|source| source.split_once(':'));
    code.is_some_and(|(code, _)| code.len() == 5 && code.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn is_code(error: &Error, code: &str) -> bool {
    error.source.as_deref().is_some_and(|source| source.starts_with(code))
}

/// Somebody else makes the same thing at the same time: `IF NOT EXISTS` does not see what has not
/// been committed. Which of the server's catalogues notices it decides about the code: an index
/// that must be unique, the name of the table, that of its row type, or a row that is being updated
/// (which is an internal error).
fn is_made_by_another(error: &Error) -> bool {
    error.kind == ErrorKind::Constraint || ["42P07", "42710", "XX000"].iter().any(|code| is_code(error, code))
}

fn is_missing(error: &Error) -> bool {
    is_code(error, "42P01")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::StatementFailure;

    #[test]
    fn only_what_is_said_of_a_statement_is_the_tables_fault() {
        let denied = |source: &str| StatementFailure::last(Error::new(ErrorKind::Denied, "no").with_source(source));
        for source in ["AccessDeniedException: not you", "status 403: not you", ""] {
            assert_eq!(RECORDS.blame(denied(source)).error, denied(source).error, "{source}");
        }
        let error = RECORDS.blame(denied("42501: permission denied for table millrace_calls")).error;
        assert_eq!(error.kind, ErrorKind::Configuration);
        assert!(error.source.as_ref().is_some_and(|source| source.contains("42501: permission") && source.ends_with("(expires_at);")));
    }
}
