//! An error as the protocol has it.

use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::ErrorResponseBody;

use crate::{
    postgres_text::{self, ServerError},
    shared::{ReadOnly, StatementFailure},
};

/// An error during a login.
pub(super) fn of_login(body: &ErrorResponseBody, place: &str) -> StatementFailure {
    postgres_text::of_login(&read(body), place)
}

/// An error of a statement.
pub(super) fn of_statement(body: &ErrorResponseBody, read_only: ReadOnly) -> StatementFailure {
    postgres_text::of_statement(&read(body), read_only)
}

fn read(body: &ErrorResponseBody) -> ServerError {
    let mut said = ServerError::default();
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            // Never translated, unlike `S`.
            b'V' => said.is_fatal = matches!(field.value_bytes(), b"FATAL" | b"PANIC"),
            b'C' => said.code = text(),
            b'M' => said.words = text(),
            b'D' => said.detail = text(),
            b't' => said.table = Some(text()),
            b'c' => said.column = Some(text()),
            b'n' => said.constraint = Some(text()),
            b'R' => said.routine = text(),
            _ => {}
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use ErrorKind::{Busy, Configuration, Constraint, Credentials, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    use bytes::BytesMut;
    use millrace_core::ErrorKind;
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
            ("22012", "ERROR", Data, Execution::Final),
            ("22P02", "ERROR", Data, Execution::Final),
            ("2202F", "ERROR", Data, Execution::Final),
            ("21000", "ERROR", Data, Execution::Final),
            ("P0001", "ERROR", Constraint, Execution::Final),
            ("38000", "ERROR", Constraint, Execution::Final),
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
                of_statement(&body(&[(b'V', severity), (b'C', code), (b'M', "hunter2")]), ReadOnly::Database);
            assert_eq!((error.kind, found), (kind, outcome), "{code}");
            assert!(!error.message.contains("hunter2") && error.source.as_deref().unwrap().contains("hunter2"), "{code}");
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
            assert_eq!(of_statement(&body(fields), ReadOnly::Database).error.message, message);
        }
    }

    #[test]
    fn a_pooler_says_in_other_words_that_a_password_is_wrong() {
        for words in ["password authentication failed", "SASL authentication failed"] {
            let failure = of_login(&body(&[(b'V', "FATAL"), (b'C', "08P01"), (b'M', words)]), "");
            assert_eq!((failure.error.kind, failure.outcome), (Credentials, Execution::Final), "{words}");
        }
    }

    #[test]
    fn errors_of_logins() {
        let cases = [
            ("28P01", Credentials, Execution::Final),
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
            let failure = of_login(&body(&[(b'V', "FATAL"), (b'C', code), (b'M', "x"), (b'D', "y")]), "`db:5432`, user `me`");
            assert_eq!((failure.error.kind, failure.outcome), (kind, outcome), "{code}");
            assert!(!failure.error.message.contains("db") && !failure.error.message.contains("`me`"), "{}", failure.error.message);
            assert_eq!(failure.error.source.as_deref().unwrap(), format!("`db:5432`, user `me`: {code}: x (y)"));
        }
    }
}
