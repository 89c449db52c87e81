//! What an error means that a server replies with, by its
//! [code](https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml). Its words
//! may quote a value; they are the source, for the log.

use millrace_core::{Error, ErrorKind};

use super::bson::{Bson, find};
use crate::shared::{Execution, StatementFailure, excerpt};

/// The server takes no writes, or no reads, and did nothing.
const NOT_PRIMARY: [i64; 4] = [10_058, 10_107, 13_435, 13_436];
/// The server is going, or has just become another's secondary: what it was doing was interrupted.
const GOING: [i64; 4] = [91, 189, 11_600, 11_602];

/// Cosmos DB has no throughput left.
const COSMOS_THROTTLING: i64 = 16_500;
/// The server takes no more requests, and did nothing.
const INGRESS_LIMIT: i64 = 462;
const NO_MORE_REQUESTS: &str = "MongoDB takes no more requests for now";
/// What is said of a server that is too old, however it shows.
pub(super) const TOO_OLD: &str = "the server is too old: the connector needs version 7 of the protocol and the command `hello`, as MongoDB 4.0.21, 4.2.10, 4.4.2 and later have";

/// What a reply is to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doing<'a> {
    /// The command's name.
    pub(super) command: &'a str,
    /// It changes nothing.
    pub(super) reads: bool,
    /// It ends at the first error.
    pub(super) is_ordered: bool,
    /// An element of it can change several documents.
    pub(super) changes_many: bool,
}

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
        18 | 8_000 => StatementFailure::last(error(ErrorKind::Credentials, "MongoDB does not accept the user and the password")),
        13 => StatementFailure::last(error(ErrorKind::Denied, "MongoDB does not let the user log in")),
        2 | 334 => {
            let message = "MongoDB rejected the user or the password, or does not accept this authentication method";
            StatementFailure::last(error(ErrorKind::Denied, message))
        }
        code if is_not_primary(code) => StatementFailure::not_executed(error(ErrorKind::Unavailable, "MongoDB is not ready")),
        59 => StatementFailure::last(error(ErrorKind::Configuration, TOO_OLD)),
        _ => StatementFailure::last(error(ErrorKind::Protocol, "MongoDB rejected the login")),
    })
}

/// The failure that a reply is.
pub(super) fn of_reply(reply: &[(String, Bson)], doing: Doing<'_>) -> Option<StatementFailure> {
    let code = code_of(reply)?;
    if find(reply, "ok").is_none() {
        return Some(StatementFailure::unknown(Error::new(ErrorKind::Protocol, "the reply of MongoDB has no `ok`")));
    }
    let failure = failure(code, words(reply, code), doing);
    Some(if doing.changes_many { perhaps_partial(failure) } else { failure })
}

/// The codes of what a write reports, though the command as a whole was carried out.
pub(super) fn write_codes(reply: &[(String, Bson)]) -> impl Iterator<Item = i64> {
    let errors = find(reply, "writeErrors").map(Bson::elements).unwrap_or_default();
    let code = |error: &Bson| error.document().and_then(|error| find(error, "code")).and_then(Bson::integer);
    errors.iter().map(move |error| code(error).unwrap_or_default())
}

/// The failure that a reply to a write reports, though the command as a whole was carried out.
pub(super) fn of_write(reply: &[(String, Bson)], doing: Doing<'_>) -> Option<StatementFailure> {
    let errors = find(reply, "writeErrors").map(Bson::elements).unwrap_or_default();
    let changed = find(reply, "n").and_then(Bson::integer);
    let Some(first) = errors.first() else {
        let concern = find(reply, "writeConcernError").and_then(Bson::document)?;
        let code = find(concern, "code").and_then(Bson::integer).unwrap_or_default();
        let message = "the change was made, but too few servers confirmed it; it may be lost if the primary fails";
        return Some(StatementFailure::last(Error::new(ErrorKind::Protocol, message).with_source(words(concern, code))));
    };
    let first = first.document().unwrap_or_default();
    let own = find(first, "code").and_then(Bson::integer).unwrap_or_default();
    let StatementFailure { error, outcome } = failure(own, words(first, own), doing);
    // The command was not carried out at all only where each of its elements says so.
    let is_untouched = changed == Some(0) && write_codes(reply).all(|code| NOT_PRIMARY.contains(&code));
    let is_interrupted = outcome != Execution::Final || matches!(error.kind, ErrorKind::Unavailable | ErrorKind::Busy);
    Some(match changed {
        Some(0) if is_untouched => StatementFailure::not_executed(error),
        Some(0) if is_interrupted || write_codes(reply).any(is_not_primary) => StatementFailure::unknown(error),
        Some(0) if doing.changes_many => perhaps_partial(StatementFailure::last(error)),
        Some(0) => StatementFailure::last(error),
        Some(count @ 1..) => {
            let of = if count == 1 { "1 document was".to_owned() } else { format!("{count} documents were") };
            let when = if doing.is_ordered { " before the error" } else { "" };
            let message = format!("{}; {of} changed{when}", error.message);
            // Whoever reads the kind must not take it for a call that changed nothing.
            let kind = if error.kind == ErrorKind::TimedOut { error.kind } else { ErrorKind::Protocol };
            StatementFailure::last(error.with_kind(kind).with_message(message))
        }
        Some(_) | None => StatementFailure::unknown(error),
    })
}

/// A failure of a command that changes several documents one after the other, of which the server
/// does not say how many it changed.
fn perhaps_partial(failure: StatementFailure) -> StatementFailure {
    use ErrorKind::{Constraint, Data, TooLarge};
    let StatementFailure { error, outcome } = failure;
    if outcome != Execution::Final || !matches!(error.kind, Constraint | Data | TooLarge) {
        return StatementFailure { error, outcome };
    }
    let message = format!("{}; other documents may have been changed before the error", error.message);
    StatementFailure::last(error.with_kind(ErrorKind::Protocol).with_message(message))
}

fn failure(code: i64, source: String, doing: Doing<'_>) -> StatementFailure {
    use ErrorKind::{Busy, Configuration, Constraint, Data, Denied, Protocol, Syntax, TimedOut, TooLarge, Unavailable};
    let command = doing.command;
    let (kind, message) = match code {
        code if NOT_PRIMARY.contains(&code) => {
            let error = Error::new(Unavailable, "the server is not the primary of its replica set").with_source(source);
            return StatementFailure::not_executed(error);
        }
        INGRESS_LIMIT => {
            let error = Error::new(Busy, NO_MORE_REQUESTS).with_source(source);
            return StatementFailure::not_executed(error);
        }
        // Cosmos DB says so also of a write of which it has done a part.
        COSMOS_THROTTLING => {
            let error = Error::new(Busy, NO_MORE_REQUESTS).with_source(source);
            return if doing.reads { StatementFailure::not_executed(error) } else { StatementFailure::unknown(error) };
        }
        code if GOING.contains(&code) => {
            let error = Error::new(Unavailable, "MongoDB interrupted the command, because the server is stopping").with_source(source);
            return StatementFailure::unknown(error);
        }
        6 | 7 | 43 | 89 | 9_001 | 11_601 | 237 => {
            let error = Error::new(Unavailable, format!("MongoDB interrupted `{command}`")).with_source(source);
            return StatementFailure::unknown(error);
        }
        112 | 24 | 246 if !doing.reads => {
            let error = Error::new(Busy, format!("`{command}` was in conflict with another change")).with_source(source);
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
        // `BadValue`, `TypeMismatch`, `Overflow`, `InvalidBSON`, a conversion or a division that
        // fails, a regular expression, a geometry.
        2 | 14 | 15 | 22 | 241 | 16_608..=16_611 | 16_702 | 28_765 | 31_255 | 40_485 | 51_091 | 51_104 | 51_105 | 51_108 | 5_439_010 => {
            (Data, format!("a value of `{command}` is not one that MongoDB accepts there"))
        }
        _ => (Constraint, format!("MongoDB rejected `{command}`")),
    };
    StatementFailure::last(Error::new(kind, message).with_source(source))
}

fn words(error: &[(String, Bson)], code: i64) -> String {
    let text = |key: &str| find(error, key).and_then(Bson::text).unwrap_or_default();
    excerpt(&format!("{code} {} {}", text("codeName"), text("errmsg")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSERT: Doing<'_> = Doing { command: "insert", reads: false, is_ordered: true, changes_many: false };

    fn reply(changed: Option<i32>, codes: &[i32]) -> Vec<(String, Bson)> {
        let errors = codes.iter().map(|code| Bson::Document(vec![("code".to_owned(), Bson::Int32(*code))]));
        let mut reply = vec![("ok".to_owned(), Bson::Int32(1)), ("writeErrors".to_owned(), Bson::Array(errors.collect()))];
        reply.extend(changed.map(|changed| ("n".to_owned(), Bson::Int32(changed))));
        reply
    }

    #[test]
    fn a_write_that_may_have_changed_something_is_never_one_to_repeat() {
        use ErrorKind::{Busy, Constraint, Protocol, TimedOut, Unavailable};
        use Execution::{Final, NotExecuted, Unknown};
        for (changed, codes, outcome, kind) in [
            (Some(0), &[10_107][..], NotExecuted, Unavailable),
            (Some(0), &[10_107, 13_435], NotExecuted, Unavailable),
            (Some(0), &[10_107, 11_600], Unknown, Unavailable),
            (Some(0), &[11_000, 10_107], Unknown, Constraint),
            (None, &[10_107], Unknown, Unavailable),
            (Some(-1), &[10_107], Unknown, Unavailable),
            (Some(0), &[189], Unknown, Unavailable),
            (Some(0), &[91], Unknown, Unavailable),
            (Some(0), &[11_600], Unknown, Unavailable),
            (Some(0), &[89], Unknown, Unavailable),
            (Some(0), &[112], Unknown, Busy),
            (Some(0), &[16_500], Unknown, Busy),
            (Some(0), &[462], Unknown, Busy),
            (Some(0), &[11_000], Final, Constraint),
            (Some(0), &[50], Final, TimedOut),
            (Some(1), &[10_107], Final, Protocol),
            (Some(1), &[189], Final, Protocol),
            (Some(7), &[112], Final, Protocol),
            (Some(2), &[11_000], Final, Protocol),
            (Some(2), &[50], Final, TimedOut),
        ] {
            let failure = of_write(&reply(changed, codes), INSERT).unwrap();
            assert_eq!((failure.outcome, failure.error.kind), (outcome, kind), "{changed:?} {codes:?}: {failure:?}");
        }
        let said = |changed, doing| of_write(&reply(Some(changed), &[11_000]), doing).unwrap().error.into_parts().message;
        let duplicate = "a document with the same unique key exists already";
        assert_eq!(said(2, INSERT), format!("{duplicate}; 2 documents were changed before the error"));
        assert_eq!(said(1, Doing { is_ordered: false, ..INSERT }), format!("{duplicate}; 1 document was changed"));
        let many = of_write(&reply(Some(0), &[11_000]), Doing { changes_many: true, ..INSERT }).unwrap();
        let expected = format!("{duplicate}; other documents may have been changed before the error");
        assert_eq!((many.outcome, many.error.kind, many.error.message.clone()), (Final, Protocol, expected));
    }

    #[test]
    fn a_throttled_write_and_a_reply_without_ok_leave_the_outcome_open() {
        let throttled = [("ok".to_owned(), Bson::Int32(0)), ("code".to_owned(), Bson::Int32(16_500))];
        assert_eq!(of_reply(&throttled, INSERT).unwrap().outcome, Execution::Unknown);
        assert_eq!(of_reply(&throttled, Doing { reads: true, ..INSERT }).unwrap().outcome, Execution::NotExecuted);
        assert_eq!(of_reply(&[], INSERT).unwrap().outcome, Execution::Unknown);
        assert!(of_reply(&[("ok".to_owned(), Bson::Double(1.0))], INSERT).is_none());
    }
}
