//! What PostgreSQL says when it fails, by its [`SQLSTATE`](https://www.postgresql.org/docs/current/errcodes-appendix.html).
//!
//! A message names tables, columns and constraints, never a value. PostgreSQL's own words are the source.

use millrace_core::{Error, ErrorKind};

use crate::shared::{StatementFailure, excerpt};

/// The fields of an error that are used here.
#[derive(Debug, Default)]
pub(crate) struct ServerError {
    /// `FATAL`: the connection ends.
    pub(crate) is_fatal: bool,
    /// The SQLSTATE.
    pub(crate) code: String,
    /// PostgreSQL's message.
    pub(crate) words: String,
    /// What it says beyond its message; empty where it says nothing.
    pub(crate) detail: String,
    pub(crate) table: Option<String>,
    pub(crate) column: Option<String>,
    pub(crate) constraint: Option<String>,
    /// Which of PostgreSQL's functions complains: one code may have several reasons.
    pub(crate) routine: String,
}

impl ServerError {
    fn error(&self, kind: ErrorKind, message: impl Into<String>) -> Error {
        let detail = if self.detail.is_empty() { String::new() } else { format!(" ({})", self.detail) };
        Error::new(kind, message).with_source(excerpt(&format!("{}: {}{detail}", self.code, self.words)))
    }
}

/// An error during a login.
pub(crate) fn of_login(said: &ServerError, address: &str) -> StatementFailure {
    let last = |kind, message: String| StatementFailure::last(said.error(kind, message));
    match said.code.as_str() {
        "28P01" => last(ErrorKind::Denied, format!("PostgreSQL at `{address}` does not accept the password")),
        code if code.starts_with("28") => {
            last(ErrorKind::Denied, format!("PostgreSQL at `{address}` does not admit this user from this address, or without TLS"))
        }
        "3D000" => last(ErrorKind::Configuration, format!("PostgreSQL at `{address}` has no database of this name")),
        "42501" => last(ErrorKind::Denied, format!("PostgreSQL at `{address}` does not admit this user to this database")),
        "53300" => StatementFailure::not_executed(said.error(ErrorKind::Busy, format!("PostgreSQL at `{address}` has no connection left"))),
        "57P03" => {
            StatementFailure::not_executed(said.error(ErrorKind::Unavailable, format!("PostgreSQL at `{address}` is starting or stopping")))
        }
        // Poolers say this of many things: of a database that they do not know, and of one that is down.
        code if code.starts_with("08") || code.starts_with("57") || code.starts_with("53") => StatementFailure::not_executed(
            said.error(ErrorKind::Unavailable, format!("PostgreSQL at `{address}` refuses the connection for now")),
        ),
        code if code.starts_with("22") || code.starts_with("42") => {
            last(ErrorKind::Configuration, format!("PostgreSQL at `{address}` does not know a setting of the connection string"))
        }
        _ => last(ErrorKind::Denied, format!("PostgreSQL at `{address}` refuses the connection")),
    }
}

/// An error of a statement. `read_only` is the adapter's.
pub(crate) fn of_statement(said: &ServerError, read_only: bool) -> StatementFailure {
    let (kind, message) = explain(said, read_only);
    let error = said.error(kind, message);
    match kind {
        // Everything since the last `Sync` was undone.
        ErrorKind::Busy => StatementFailure::not_executed(error),
        ErrorKind::Unavailable if said.code == "57P03" => StatementFailure::not_executed(error),
        // The end came with the statement under way, or with its commit done and not told.
        ErrorKind::Unavailable => StatementFailure::unknown(error),
        _ => StatementFailure::last(error),
    }
}

fn explain(said: &ServerError, read_only: bool) -> (ErrorKind, String) {
    use ErrorKind::{Busy, Configuration, Constraint, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    let (kind, message) = match said.code.as_str() {
        "42601" if said.routine == "exec_parse_message" => (Syntax, "the query contains more than one statement".to_owned()),
        "08P01" if said.routine == "exec_bind_message" => (Syntax, "the statement expects a different number of values".to_owned()),
        "42P02" => (Syntax, "the statement expects a different number of values".to_owned()),
        "42P18" => (Syntax, unclear("the type of a value cannot be determined; write a cast, `{{ … }}::text`")),
        "22021" => {
            (Constraint, "PostgreSQL refused a value: a text has a NUL character, or another that the database cannot store".to_owned())
        }
        "42P01" => (Syntax, unclear("a table is missing")),
        "42703" => (Syntax, unclear("a column is missing")),
        "42883" => (Syntax, unclear("a function or operator does not exist for values of these types")),
        "42725" => (Syntax, unclear("several functions or operators fit; write a cast")),
        "42804" | "42846" | "42P08" => (Syntax, unclear("a value does not have the type that its place requires")),
        "42501" => (Denied, "the user of the adapter may not do what the statement does".to_owned()),
        "23505" => (Constraint, refused("a UNIQUE constraint", said.constraint.as_deref())),
        "23514" => (Constraint, refused("a CHECK constraint", said.constraint.as_deref())),
        "23503" | "23001" => (Constraint, refused("a FOREIGN KEY constraint", said.constraint.as_deref())),
        "23P01" => (Constraint, refused("an EXCLUDE constraint", said.constraint.as_deref())),
        "23502" => (Constraint, refused("a NOT NULL constraint", column(said).as_deref())),
        "25006" if read_only => (Denied, "the statement writes, and the adapter is read-only".to_owned()),
        "25006" => (Denied, "the statement writes, and the database is read-only".to_owned()),
        "25001" | "2D000" | "0B000" => {
            (Denied, "PostgreSQL does not run the statement inside a transaction, which every call is".to_owned())
        }
        "40001" | "40P01" => (Busy, "PostgreSQL ended the statement because of others that ran concurrently".to_owned()),
        "55P03" | "55006" => (Busy, "what the statement needs is locked by another connection".to_owned()),
        "53300" => (Busy, "PostgreSQL has no connection left".to_owned()),
        "53200" => (Busy, "PostgreSQL has no memory left for the statement".to_owned()),
        "57014" => (TimedOut, "the statement ran past its deadline".to_owned()),
        "57P01" | "57P02" | "57P05" => (Unavailable, "PostgreSQL ended the connection".to_owned()),
        "57P03" => (Unavailable, "PostgreSQL is starting or stopping".to_owned()),
        "P0001" => (Constraint, "a function of the database refused the statement".to_owned()),
        code => match code.get(..2).unwrap_or_default() {
            "23" | "44" | "27" => (Constraint, "a constraint of the database refused the change".to_owned()),
            "21" | "22" | "2F" | "38" | "39" | "P0" => (Constraint, "PostgreSQL refused a value or the result of a computation".to_owned()),
            "28" => (Denied, "PostgreSQL does not permit this user to do that".to_owned()),
            "42" | "0A" | "3F" | "26" | "34" => (Syntax, "PostgreSQL does not understand the statement".to_owned()),
            "08" => (Unavailable, "the connection to PostgreSQL was lost".to_owned()),
            "53" => (Unavailable, "PostgreSQL has no room left".to_owned()),
            "54" => (TooLarge, "the statement or its result is larger than PostgreSQL allows".to_owned()),
            "55" => (Denied, "PostgreSQL does not run the statement in its current state".to_owned()),
            "3D" => (Configuration, "PostgreSQL has no database of this name".to_owned()),
            _ => (Protocol, "PostgreSQL failed in an unexpected way".to_owned()),
        },
    };
    // A farewell that is not one of those above: nobody knows what came before it.
    if said.is_fatal && !matches!(kind, Unavailable | TimedOut) {
        return (Unavailable, "PostgreSQL ended the connection".to_owned());
    }
    (kind, message)
}

fn unclear(why: &str) -> String {
    format!("PostgreSQL does not understand the statement: {why}")
}

fn refused(what: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{what} refused the change: `{name}`"),
        None => format!("{what} refused the change"),
    }
}

fn column(said: &ServerError) -> Option<String> {
    match (&said.table, &said.column) {
        (Some(table), Some(column)) => Some(format!("{table}.{column}")),
        (_, column) => column.clone(),
    }
}

/// Whether an error may be of the statement or of what is set before it, and not of the connection or of time.
pub(crate) const fn is_of_statement(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Syntax | ErrorKind::Constraint | ErrorKind::Denied | ErrorKind::Protocol)
}

/// Says that it was the settings of the session, and not the statement, that the server refused.
pub(crate) fn blame_session(error: Error) -> Error {
    let message = "PostgreSQL refused a setting or the role of the adapter's `session`".to_owned();
    Error { kind: ErrorKind::Denied, message, ..error }
}
