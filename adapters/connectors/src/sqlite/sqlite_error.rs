//! SQLite's errors as the core's: what the caller can do, in words that hold no value.
//!
//! Codes: <https://sqlite.org/rescode.html>.

use millrace_core::{Error, ErrorKind};
use rusqlite::{
    ErrorCode,
    ffi::{self, Error as Code},
};

use crate::sqlite_text::error::{WRONG_TYPE, of_value};

use super::limits::{BOUND, LONGEST_INDEXED_PATTERN, LONGEST_VALUE};

/// When a statement failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// While SQLite read it.
    Prepare,
    /// While it ran.
    Step,
}

/// The deadline passed.
pub(super) fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "the statement ran past its deadline")
}

/// Whether a new connection may fare better.
pub(super) fn is_of_connection(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Protocol | ErrorKind::Unavailable)
}

/// The core's error for one of SQLite's.
pub(super) fn explain(error: rusqlite::Error, phase: Phase) -> Error {
    use rusqlite::Error as E;
    match error {
        E::SqlInputError { msg, offset, .. } => {
            Error::new(ErrorKind::Syntax, format!("SQLite does not understand the statement at byte {offset}")).with_source(msg)
        }
        E::Empty => Error::new(ErrorKind::Syntax, "the query contains no statement"),
        E::MultipleStatement => Error::new(ErrorKind::Syntax, "the query contains more than one statement"),
        E::SqliteFailure(code, text) => {
            let text = text.unwrap_or_else(|| code.to_string());
            let (kind, message) = kind_and_message(code, &text, phase);
            Error::new(kind, message).with_source(text)
        }
        other => Error::new(ErrorKind::Protocol, "SQLite sent a response that is not understood").with_source(other.to_string()),
    }
}

fn kind_and_message(code: Code, text: &str, phase: Phase) -> (ErrorKind, String) {
    if let Some((_, bound)) = text.split_once(BOUND).filter(|(before, _)| before.is_empty()) {
        return (ErrorKind::Data, bound.into());
    }
    if text == "LIKE or GLOB pattern too complex" {
        let message = format!(
            "the pattern of `LIKE` or `GLOB` has more than {LONGEST_INDEXED_PATTERN} bytes, the most that connector `sqlite` takes with `like_uses_index`"
        );
        return (ErrorKind::Data, message);
    }
    let (kind, message) = match code.code {
        ErrorCode::ConstraintViolation if code.extended_code == ffi::SQLITE_CONSTRAINT_DATATYPE => (ErrorKind::Data, WRONG_TYPE),
        ErrorCode::ConstraintViolation => return (ErrorKind::Constraint, constraint(code.extended_code, text)),
        ErrorCode::TypeMismatch => (ErrorKind::Data, WRONG_TYPE),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            (ErrorKind::Busy, "the database is locked by another connection")
        }
        ErrorCode::OperationInterrupted => return (ErrorKind::TimedOut, timed_out().into_parts().message),
        ErrorCode::ReadOnly => (ErrorKind::Denied, "the database is read-only"),
        // What the authorizer refuses on purpose it names itself; else rusqlite refused a name that
        // it could not read.
        ErrorCode::AuthorizationForStatementDenied => (ErrorKind::Protocol, "the schema of the database contains a name that is not UTF-8"),
        ErrorCode::PermissionDenied => (ErrorKind::Denied, "the operating system forbids access to the database file"),
        ErrorCode::DatabaseCorrupt => (ErrorKind::Protocol, "the database file is damaged"),
        ErrorCode::NotADatabase => (ErrorKind::Protocol, "the database file is not a SQLite database"),
        ErrorCode::DiskFull => (ErrorKind::Unavailable, "the disk of the database is full"),
        ErrorCode::CannotOpen => (ErrorKind::Unavailable, "a file of the database cannot be opened"),
        ErrorCode::SystemIoFailure => (ErrorKind::Unavailable, "the database file cannot be read or written"),
        ErrorCode::OutOfMemory => (ErrorKind::Unavailable, "SQLite ran out of memory"),
        ErrorCode::TooBig => {
            return (
                ErrorKind::Data,
                format!("a text or blob has more than {LONGEST_VALUE} bytes, which is the limit of connector `sqlite`"),
            );
        }
        // A plain error while it runs is a value that a function refused, unless the schema changed
        // under the statement.
        ErrorCode::Unknown if phase == Phase::Step && !text.starts_with("no such") => (ErrorKind::Data, of_value(text)),
        ErrorCode::Unknown | ErrorCode::SchemaChanged => (ErrorKind::Syntax, "SQLite does not understand the statement"),
        _ => (ErrorKind::Protocol, "SQLite failed in an unexpected way"),
    };
    (kind, message.into())
}

/// Names the kind of the constraint, and the column or check where SQLite names it. The texts are
/// the schema's, not values; what a trigger says may hold values and is left out.
fn constraint(code: i32, text: &str) -> String {
    let kind = match code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_ROWID => "UNIQUE",
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY => "PRIMARY KEY",
        ffi::SQLITE_CONSTRAINT_NOTNULL => "NOT NULL",
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => "FOREIGN KEY",
        ffi::SQLITE_CONSTRAINT_CHECK => "CHECK",
        ffi::SQLITE_CONSTRAINT_TRIGGER => return "a trigger of the database refused the change".into(),
        _ => return "a constraint of the database refused the change".into(),
    };
    match text.split_once("constraint failed: ") {
        Some((_, subject)) => format!("a {kind} constraint refused the change: `{subject}`"),
        None => format!("a {kind} constraint refused the change"),
    }
}
