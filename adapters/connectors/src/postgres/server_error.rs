//! What PostgreSQL says when it fails, by its [`SQLSTATE`](https://www.postgresql.org/docs/current/errcodes-appendix.html).
//!
//! A message names tables, columns and constraints, never a value. PostgreSQL's own words are the source.

use fallible_iterator::FallibleIterator as _;
use millrace_core::{Error, ErrorKind};
use postgres_protocol::message::backend::ErrorResponseBody;

use crate::shared::{StatementFailure, excerpt};

/// The fields of an error that are used here.
#[derive(Debug, Default)]
struct ServerError {
    /// `FATAL`: the connection ends.
    is_fatal: bool,
    code: String,
    words: String,
    table: Option<String>,
    column: Option<String>,
    constraint: Option<String>,
    /// Which of PostgreSQL's functions complains: one code may have several reasons.
    routine: String,
}

impl ServerError {
    fn of(body: &ErrorResponseBody) -> Self {
        let mut said = Self::default();
        let mut fields = body.fields();
        let mut detail = String::new();
        while let Ok(Some(field)) = fields.next() {
            let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                // Never translated, unlike `S`.
                b'V' => said.is_fatal = matches!(field.value_bytes(), b"FATAL" | b"PANIC"),
                b'C' => said.code = text(),
                b'M' => said.words = text(),
                b'D' => detail = text(),
                b't' => said.table = Some(text()),
                b'c' => said.column = Some(text()),
                b'n' => said.constraint = Some(text()),
                b'R' => said.routine = text(),
                _ => {}
            }
        }
        if !detail.is_empty() {
            said.words = format!("{} ({detail})", said.words);
        }
        said
    }

    fn error(&self, kind: ErrorKind, message: impl Into<String>) -> Error {
        Error::new(kind, message).with_source(excerpt(&format!("{}: {}", self.code, self.words)))
    }
}

/// An error during a login.
pub(super) fn of_login(body: &ErrorResponseBody, address: &str) -> StatementFailure {
    let said = ServerError::of(body);
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
pub(super) fn of_statement(body: &ErrorResponseBody, read_only: bool) -> StatementFailure {
    let said = ServerError::of(body);
    let (kind, message) = explain(&said, read_only);
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

#[cfg(test)]
mod tests {
    use ErrorKind::{Busy, Configuration, Constraint, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    use bytes::BytesMut;
    use postgres_protocol::message::backend::Message;

    use super::*;
    use crate::shared::Execution;

    fn body(fields: &[(u8, &str)]) -> ErrorResponseBody {
        let mut content = Vec::new();
        for (name, value) in fields {
            content.push(*name);
            content.extend_from_slice(value.as_bytes());
            content.push(0);
        }
        content.push(0);
        let mut bytes = BytesMut::from(&b"E"[..]);
        bytes.extend_from_slice(&(content.len() as i32 + 4).to_be_bytes());
        bytes.extend_from_slice(&content);
        match Message::parse(&mut bytes) {
            Ok(Some(Message::ErrorResponse(body))) => body,
            _ => panic!("no error"),
        }
    }

    #[test]
    fn errors_of_statements() {
        let cases = [
            ("42601", "ERROR", Syntax, Execution::Final),
            ("42501", "ERROR", Denied, Execution::Final),
            ("23505", "ERROR", Constraint, Execution::Final),
            ("23000", "ERROR", Constraint, Execution::Final),
            ("22012", "ERROR", Constraint, Execution::Final),
            ("25006", "ERROR", Denied, Execution::Final),
            ("40001", "ERROR", Busy, Execution::NotExecuted),
            ("40P01", "ERROR", Busy, Execution::NotExecuted),
            ("53300", "FATAL", Unavailable, Execution::Unknown),
            ("54000", "ERROR", TooLarge, Execution::Final),
            ("57014", "ERROR", TimedOut, Execution::Final),
            ("57P01", "FATAL", Unavailable, Execution::Unknown),
            ("57P03", "FATAL", Unavailable, Execution::NotExecuted),
            ("08006", "ERROR", Unavailable, Execution::Unknown),
            ("25P03", "FATAL", Unavailable, Execution::Unknown),
            ("XX000", "ERROR", Protocol, Execution::Final),
            ("", "ERROR", Protocol, Execution::Final),
            ("\u{e9}", "ERROR", Protocol, Execution::Final),
        ];
        for (code, severity, kind, outcome) in cases {
            let StatementFailure { error, outcome: found } =
                of_statement(&body(&[(b'V', severity), (b'C', code), (b'M', "hunter2")]), false);
            assert_eq!((error.kind, found), (kind, outcome), "{code}");
            assert!(!error.message.contains("hunter2") && error.source.unwrap().contains("hunter2"), "{code}");
        }
    }

    #[test]
    fn what_is_named() {
        let cases: [(&[(u8, &str)], &str); 6] = [
            (&[(b'C', "23505"), (b'n', "users_email_key")], "a UNIQUE constraint refused the change: `users_email_key`"),
            (&[(b'C', "23502"), (b't', "users"), (b'c', "name")], "a NOT NULL constraint refused the change: `users.name`"),
            (&[(b'C', "23502"), (b'c', "name")], "a NOT NULL constraint refused the change: `name`"),
            (&[(b'C', "23514")], "a CHECK constraint refused the change"),
            (&[(b'C', "42601"), (b'R', "exec_parse_message")], "the query contains more than one statement"),
            (&[(b'C', "08P01"), (b'R', "exec_bind_message")], "the statement expects a different number of values"),
        ];
        for (fields, message) in cases {
            assert_eq!(of_statement(&body(fields), false).error.message, message);
        }
    }

    #[test]
    fn errors_of_logins() {
        let cases = [
            ("28P01", Denied, Execution::Final),
            ("28000", Denied, Execution::Final),
            ("3D000", Configuration, Execution::Final),
            ("42501", Denied, Execution::Final),
            ("42704", Configuration, Execution::Final),
            ("53300", Busy, Execution::NotExecuted),
            ("57P03", Unavailable, Execution::NotExecuted),
            ("08P01", Unavailable, Execution::NotExecuted),
            ("XX000", Denied, Execution::Final),
        ];
        for (code, kind, outcome) in cases {
            let failure = of_login(&body(&[(b'V', "FATAL"), (b'C', code), (b'M', "x"), (b'D', "y")]), "db:5432");
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{code}");
            assert_eq!(failure.error.source.unwrap(), format!("{code}: x (y)"));
        }
    }
}
