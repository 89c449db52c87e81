//! What an error means that a server replies with, by its
//! [code](https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml). Its words may quote a value; they are the source, for the log.

use millrace_core::{Error, ErrorKind};

use super::bson::{Bson, find};
use crate::shared::{Execution, StatementFailure, excerpt};

/// The server takes no writes, or no reads, and did nothing.
const NOT_PRIMARY: [i64; 4] = [10_058, 10_107, 13_435, 13_436];
/// The server is going, or has just become another's secondary: what it was doing was interrupted.
const GOING: [i64; 4] = [91, 189, 11_600, 11_602];

/// Whether the server that said so is not the one to ask.
pub(super) fn is_not_primary(code: i64) -> bool {
    NOT_PRIMARY.contains(&code) || GOING.contains(&code)
}

/// The code of a reply that is an error as a whole.
pub(super) fn code_of(reply: &[(String, Bson)]) -> Option<i64> {
    let is_ok = find(reply, "ok").is_some_and(Bson::is_true);
    (!is_ok).then(|| find(reply, "code").and_then(Bson::integer).unwrap_or_default())
}

/// The failure that a reply to a command of the login is.
pub(super) fn of_login(reply: &[(String, Bson)]) -> Option<StatementFailure> {
    let code = code_of(reply)?;
    let source = words(reply, code);
    let error = |kind, message: &str| Error::new(kind, message).with_source(source.clone());
    Some(match code {
        18 | 8_000 => StatementFailure::last(error(ErrorKind::Denied, "MongoDB does not accept the user and the password")),
        13 => StatementFailure::last(error(ErrorKind::Denied, "MongoDB does not let the user log in")),
        2 | 334 => {
            StatementFailure::last(error(ErrorKind::Denied, "MongoDB does not know the user, or not with this method of authentication"))
        }
        code if is_not_primary(code) => StatementFailure::not_executed(error(ErrorKind::Unavailable, "MongoDB is not ready")),
        59 => StatementFailure::last(error(ErrorKind::Configuration, "the server is older than MongoDB 4.4, which is not supported")),
        _ => StatementFailure::last(error(ErrorKind::Protocol, "MongoDB rejected the login")),
    })
}

/// The failure that a reply is. `command` is the command's name.
pub(super) fn of_reply(reply: &[(String, Bson)], command: &str) -> Option<StatementFailure> {
    let code = code_of(reply)?;
    Some(failure(code, words(reply, code), command))
}

/// The failure that a reply to a write reports, though the command as a whole was carried out.
pub(super) fn of_write(reply: &[(String, Bson)], command: &str) -> Option<StatementFailure> {
    let errors = find(reply, "writeErrors").map(Bson::elements).unwrap_or_default();
    let changed = find(reply, "n").and_then(Bson::integer).unwrap_or_default();
    if let Some(first) = errors.first() {
        let first = first.document().unwrap_or_default();
        let code = |error: &Bson| error.document().and_then(|error| find(error, "code")).and_then(Bson::integer).unwrap_or_default();
        let own = find(first, "code").and_then(Bson::integer).unwrap_or_default();
        let mut failure = failure(own, words(first, own), command);
        if changed > 0 || !errors.iter().all(|error| NOT_PRIMARY.contains(&code(error))) {
            // Of what was before it, or beside it, something may have been done.
            failure.outcome = Execution::Final;
        }
        if changed > 0 {
            let of = if changed == 1 { "1 document was" } else { "documents were" };
            let count = if changed == 1 { String::new() } else { format!("{changed} ") };
            failure.error.message = format!("{}; {count}{of} changed before", failure.error.message);
        }
        return Some(failure);
    }
    let concern = find(reply, "writeConcernError").and_then(Bson::document)?;
    let code = find(concern, "code").and_then(Bson::integer).unwrap_or_default();
    let message = "the change was made, but too few servers confirmed it; it may be lost if the primary fails";
    Some(StatementFailure::last(Error::new(ErrorKind::Protocol, message).with_source(words(concern, code))))
}

fn failure(code: i64, source: String, command: &str) -> StatementFailure {
    use ErrorKind::{Busy, Configuration, Constraint, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    let (kind, message) = match code {
        code if NOT_PRIMARY.contains(&code) => {
            let error = Error::new(Unavailable, "the server is not the primary of its replica set").with_source(source);
            return StatementFailure::not_executed(error);
        }
        16_500 | 462 => {
            let error = Error::new(Busy, "MongoDB takes no more requests for now").with_source(source);
            return StatementFailure::not_executed(error);
        }
        code if GOING.contains(&code) => {
            let error = Error::new(Unavailable, "MongoDB interrupted the command, because the server is stopping").with_source(source);
            return StatementFailure::unknown(error);
        }
        6 | 7 | 43 | 89 | 9_001 | 11_601 | 237 => {
            let error = Error::new(Unavailable, format!("MongoDB interrupted `{command}`")).with_source(source);
            return StatementFailure::unknown(error);
        }
        11_000 | 11_001 | 12_582 => (Constraint, "a document with the same unique key exists already".to_owned()),
        121 => (Constraint, "the document does not match the rules of its collection".to_owned()),
        13 | 18 | 8_000 => (Denied, format!("the user of the adapter may not run `{command}` here")),
        50 | 262 => (TimedOut, "the statement ran past its deadline".to_owned()),
        9 | 59 | 168 | 40_324 | 40_415 => (Syntax, format!("the server does not understand this `{command}`")),
        73 | 166 => (Configuration, format!("`{command}` is not possible with this collection")),
        112 | 24 | 246 => (Busy, format!("`{command}` was in conflict with another change")),
        146 | 292 | 10_334 | 17_419 | 17_420 => (TooLarge, format!("`{command}` needs more memory than MongoDB gives it")),
        0 => (Protocol, format!("MongoDB rejected `{command}`")),
        _ => (Constraint, format!("MongoDB rejected `{command}`")),
    };
    StatementFailure::last(Error::new(kind, message).with_source(source))
}

fn words(error: &[(String, Bson)], code: i64) -> String {
    let text = |key: &str| find(error, key).and_then(Bson::text).unwrap_or_default();
    excerpt(&format!("{code} {} {}", text("codeName"), text("errmsg")))
}
