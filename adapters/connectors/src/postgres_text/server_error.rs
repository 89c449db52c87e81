//! What PostgreSQL says when it fails, by its
//! [`SQLSTATE`](https://www.postgresql.org/docs/current/errcodes-appendix.html).
//!
//! A message names tables, columns and constraints, never a value. PostgreSQL's own words are the
//! source.

use millrace_core::{Error, ErrorKind};

use crate::shared::{ReadOnly, StatementFailure, excerpt};

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

/// An error during a login. `place` is where, and as whom.
pub(crate) fn of_login(said: &ServerError, place: &str) -> StatementFailure {
    let error = |kind, message: &str| said.error(kind, message).at(place);
    let last = |kind, message: &str| StatementFailure::last(error(kind, message));
    let later = |kind, message: &str| StatementFailure::not_executed(error(kind, message));
    match said.code.as_str() {
        "28P01" => last(ErrorKind::Credentials, "PostgreSQL does not accept the password"),
        code if code.starts_with("28") => {
            last(ErrorKind::Denied, "PostgreSQL does not admit the user of the adapter from this address, or without TLS")
        }
        "3D000" => last(ErrorKind::Configuration, "PostgreSQL has no database of this name"),
        "42501" => last(ErrorKind::Denied, "PostgreSQL does not admit the user of the adapter to the database"),
        "53300" => later(ErrorKind::Busy, "PostgreSQL has no connection left"),
        "57P03" => later(ErrorKind::Unavailable, "PostgreSQL is starting or stopping"),
        // Poolers say this of many things: of a password, of a database that they do not know, and
        // of one that is down.
        "08P01" if says_of_password(&said.words) => last(ErrorKind::Credentials, "PostgreSQL does not accept the password"),
        code if code.starts_with("08") || code.starts_with("57") || code.starts_with("53") => {
            later(ErrorKind::Unavailable, "PostgreSQL refuses the connection for now")
        }
        code if code.starts_with("22") || code.starts_with("42") => {
            last(ErrorKind::Configuration, "PostgreSQL does not know a setting of the connection string")
        }
        _ => last(ErrorKind::Denied, "PostgreSQL refuses the connection"),
    }
}

/// Whether a pooler says that a password is wrong.
fn says_of_password(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    words.contains("password authentication failed") || words.contains("sasl authentication failed")
}

/// An error of a statement.
pub(crate) fn of_statement(said: &ServerError, read_only: ReadOnly) -> StatementFailure {
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

fn explain(said: &ServerError, read_only: ReadOnly) -> (ErrorKind, String) {
    use ErrorKind::{Busy, Configuration, Constraint, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    let (kind, message) = match said.code.as_str() {
        "42601" if said.routine == "exec_parse_message" => (Syntax, "the query contains more than one statement".to_owned()),
        // These are said of a value that is read as a query or a path, not of the statement.
        "42601" if matches!(said.routine.as_str(), "makepol" | "gettoken_query_standard" | "prssyntaxerror" | "jsonpath_yyerror") => {
            (Data, refused_value("22P02"))
        }
        "08P01" if said.routine == "exec_bind_message" => (Syntax, "the statement expects a different number of values".to_owned()),
        "42P02" => (Syntax, "the statement expects a different number of values".to_owned()),
        "42P18" => (Syntax, unclear("the type of a value cannot be determined; write a cast, `{{ … }}::text`")),
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
        "25006" => (Denied, read_only.refusal().to_owned()),
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
            "21" | "22" => (Data, refused_value(said.code.as_str())),
            "2F" | "38" | "39" | "P0" => (Constraint, "a function of the database refused the statement".to_owned()),
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

/// What is wrong with a value, or with what is computed from one. PostgreSQL's own words have the
/// value.
fn refused_value(code: &str) -> String {
    let why = match code {
        "21000" => "a query that must give one row gave several",
        "22001" => "a text is longer than its column or type allows",
        "22003" => "a number is out of the range of its type",
        "22004" | "22002" => "a value is `NULL` where none may be",
        "22007" => "a text is not a date, a time or an interval",
        "22008" | "22015" => "a date, a time or an interval is out of range",
        "22009" | "22023" => "a function does not accept the value of an argument",
        "22011" => "a part of a text has a negative length",
        "22012" => "a division by zero",
        "22021" => "a text has a NUL character, or another that the database cannot store",
        "22025" | "22019" | "2200B" | "2200C" | "2200D" | "22P06" => "an escape of a pattern or a text is not valid",
        "22026" => "a bit string has another length than its column",
        "2201B" => "a regular expression is not valid",
        "2201W" => "`LIMIT` is negative",
        "2201X" => "`OFFSET` is negative",
        "2201E" | "2201F" | "2201G" => "a logarithm, a power or a root of a number that has none",
        "2202E" => "a list has inner lists of different lengths, or an index of an array is out of range",
        "22030" | "22031" | "22032" | "22033" | "22034" | "22035" | "22036" | "22037" | "22038" | "22039" | "2203A" | "2203B" | "2203C"
        | "2203D" | "2203E" | "2203F" => "a JSON document, or a path into one, is not valid",
        "22P02" => "a text does not have the form that its type requires, such as a number, a UUID, JSON or an array",
        "22P03" => "a value in the binary form does not have the form that its type requires",
        "22P05" => "a text has a character that the encoding of the database does not have",
        "2200L" | "2200M" | "2200N" | "2200S" | "2200T" => "a text is not valid XML",
        _ => return "PostgreSQL refused a value or the result of a computation".to_owned(),
    };
    format!("PostgreSQL refused a value or the result of a computation: {why}")
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

/// Whether an error may be of the statement or of what is set before it, and not of the connection
/// or of time.
pub(crate) fn is_of_statement(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Syntax | ErrorKind::Constraint | ErrorKind::Data | ErrorKind::Denied | ErrorKind::Protocol)
}

/// Says that it was the settings of the session, and not the statement, that the server refused.
pub(crate) fn blame_session(error: Error) -> Error {
    let message = "PostgreSQL refused a setting or the role of the adapter's `session`";
    error.with_kind(ErrorKind::Denied).with_message(message)
}
