//! What D1 says when a statement fails, by a Worker's binding and by the REST API: sentences, not
//! codes.
//!
//! In goes D1's text, `D1_ERROR: <SQLite's words>: SQLITE_CONSTRAINT (extended: …)` or a sentence
//! of D1's own; out come the core's error, whose message holds no value, and whether the statement
//! was executed.
//!
//! Errors: <https://developers.cloudflare.com/d1/observability/debug-d1/>.

use millrace_core::{Error, ErrorKind};

use super::statement::Prepared;
use crate::{
    shared::{StatementFailure, excerpt},
    sqlite_text::{error, of_search, searches},
};

/// Too much to do: what was turned away was not executed.
const BUSY: [&str; 2] = ["overloaded", "too many requests queued"];

/// The database was moved or restarted under the statement, or the way to it broke. Whether the
/// statement ran is not known.
const PASSING: [&str; 7] = [
    "network connection lost",
    "caused object to be reset",
    "reset because its code was updated",
    "cannot resolve d1 db due to transient issue",
    "can't read from request stream",
    "broken.",
    "internal error",
];

/// Sentences that are final: nothing of the statement was kept.
const FINAL: [(&str, ErrorKind, &str); 8] = [
    ("wrong number of parameter bindings", ErrorKind::Syntax, "the statement expects a different number of values"),
    ("too many sql variables", ErrorKind::TooLarge, "the statement has more values than D1 allows, 100"),
    ("variable number must be", ErrorKind::TooLarge, "the statement has more values than D1 allows, 100"),
    ("statement too long", ErrorKind::TooLarge, "the statement is longer than D1 allows, 100 KB"),
    ("string or blob too big", ErrorKind::Data, "a text or blob is longer than D1 allows, 2 MB"),
    ("maximum db size", ErrorKind::Unavailable, "the database is full"),
    ("sqlite_limit", ErrorKind::TooLarge, "the statement is more than D1 allows"),
    ("exceeded", ErrorKind::TimedOut, "the statement took more time or memory than D1 allows"),
];

/// The failure that a text of D1's tells of, whatever the text.
#[must_use]
pub fn of_message(text: &str, prepared: &Prepared<'_>) -> StatementFailure {
    explain(text, prepared).unwrap_or_else(|| {
        StatementFailure::unknown(Error::new(ErrorKind::Protocol, "D1 failed in an unexpected way").with_source(excerpt(text)))
    })
}

/// The failure that a text of D1's tells of; `None` for a text that is not known.
pub(super) fn explain(text: &str, prepared: &Prepared<'_>) -> Option<StatementFailure> {
    let text = text.trim_start_matches("D1_ERROR: ").trim_start_matches("D1_EXEC_ERROR: ");
    let (words, code) = split(text);
    let lower = text.to_ascii_lowercase();
    let fault = |kind, message: &str| Error::new(kind, message).with_source(excerpt(words));
    // SQLite's own words may quote the schema; D1's sentences come without a code.
    if code.is_none() {
        if BUSY.iter().any(|part| lower.contains(part)) {
            return Some(StatementFailure::not_executed(fault(ErrorKind::Busy, "D1 is overloaded")));
        }
        if PASSING.iter().any(|part| lower.contains(part)) {
            return Some(StatementFailure::unknown(fault(ErrorKind::Unavailable, "D1 cannot be reached, or is restarting")));
        }
    }
    if let Some((_, kind, message)) = FINAL.iter().find(|(part, _, _)| lower.starts_with(part) || (code.is_none() && lower.contains(part)))
    {
        return Some(StatementFailure::last(fault(*kind, message)));
    }
    let (kind, mut message) = error::explain(code?, words);
    if kind == ErrorKind::Syntax
        && let Some(at) = offset(text)
    {
        message = format!("{message} at byte {}", prepared.original_offset(at));
    }
    let error = fault(kind, &message);
    // Where it failed at a place in its text, it did not run.
    let error = if offset(text).is_none() { of_search(error, || searches(&prepared.text)) } else { error };
    Some(if kind == ErrorKind::Busy { StatementFailure::not_executed(error) } else { StatementFailure::last(error) })
}

/// Splits `words at offset 7: SQLITE_CODE (extended: SQLITE_CODE_MORE)` into the words and the
/// code, the extended one where there is one.
fn split(text: &str) -> (&str, Option<&str>) {
    let Some((words, code)) = text.split_once(": SQLITE_").map(|(words, _)| (words, &text[words.len() + 2..])) else { return (text, None) };
    let code = match code.split_once(" (extended: ") {
        Some((_, extended)) => extended.trim_end_matches(')'),
        None => code,
    };
    let words = match words.rsplit_once(" at offset ") {
        Some((before, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => before,
        _ => words,
    };
    (words, Some(code))
}

fn offset(text: &str) -> Option<usize> {
    text.split_once(" at offset ").and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use millrace_core::value::Value;

    use super::*;
    use crate::shared::Execution;

    #[test]
    fn sentences_become_kinds_and_outcomes() {
        use ErrorKind::{Busy, Constraint, Data, Denied, Syntax, TimedOut, TooLarge, Unavailable};
        use Execution::{Final, NotExecuted, Unknown};
        const AWAY: &str = "D1 cannot be reached, or is restarting";
        let table = [
            (
                "D1_ERROR: near \"t\": syntax error at offset 34: SQLITE_ERROR",
                Syntax,
                Final,
                "SQLite does not understand the statement at byte 15",
            ),
            ("no such table: x: SQLITE_ERROR", Syntax, Final, "SQLite does not understand the statement"),
            (
                "malformed JSON: SQLITE_ERROR",
                Data,
                Final,
                "SQLite refused a value or the result of a computation: a JSON document, or a path into one, is not valid",
            ),
            (
                "D1_ERROR: UNIQUE constraint failed: users.email: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)",
                Constraint,
                Final,
                "a UNIQUE constraint refused the change: `users.email`",
            ),
            (
                "UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)",
                Constraint,
                Final,
                "a PRIMARY KEY constraint refused the change: `t.id`",
            ),
            ("NOT NULL constraint failed: t.a: SQLITE_CONSTRAINT", Constraint, Final, "a NOT NULL constraint refused the change: `t.a`"),
            ("FOREIGN KEY constraint failed: SQLITE_CONSTRAINT", Constraint, Final, "a FOREIGN KEY constraint refused the change"),
            (
                "CHECK constraint failed: grown_up: SQLITE_CONSTRAINT",
                Constraint,
                Final,
                "a CHECK constraint refused the change: `grown_up`",
            ),
            ("datatype mismatch: SQLITE_MISMATCH", Data, Final, "a value does not have the type of its column"),
            ("not authorized: SQLITE_AUTH", Denied, Final, "the server forbids the statement"),
            ("database is locked: SQLITE_BUSY", Busy, NotExecuted, "the database is locked by another connection"),
            ("too many SQL variables at offset 410: SQLITE_ERROR", TooLarge, Final, "the statement has more values than D1 allows, 100"),
            (
                "variable number must be between ?1 and ?100 at offset 506: SQLITE_ERROR",
                TooLarge,
                Final,
                "the statement has more values than D1 allows, 100",
            ),
            ("Wrong number of parameter bindings for SQL query.", Syntax, Final, "the statement expects a different number of values"),
            ("statement too long: SQLITE_TOOBIG", TooLarge, Final, "the statement is longer than D1 allows, 100 KB"),
            ("string or blob too big: SQLITE_TOOBIG", Data, Final, "a text or blob is longer than D1 allows, 2 MB"),
            ("Exceeded maximum DB size.", Unavailable, Final, "the database is full"),
            ("D1 DB exceeded its CPU time limit.", TimedOut, Final, "the statement took more time or memory than D1 allows"),
            (
                "D1 DB's isolate exceeded its memory limit and was reset.",
                TimedOut,
                Final,
                "the statement took more time or memory than D1 allows",
            ),
            ("D1_ERROR: D1 DB is overloaded. Too many requests queued.", Busy, NotExecuted, "D1 is overloaded"),
            ("D1_ERROR: Network connection lost.", Unavailable, Unknown, AWAY),
            ("D1 DB storage operation exceeded timeout which caused object to be reset.", Unavailable, Unknown, AWAY),
            ("Internal error in D1 DB storage caused object to be reset.", Unavailable, Unknown, AWAY),
            ("D1 DB reset because its code was updated.", Unavailable, Unknown, AWAY),
            ("Cannot resolve D1 DB due to transient issue on remote node.", Unavailable, Unknown, AWAY),
            ("Can't read from request stream because client disconnected.", Unavailable, Unknown, AWAY),
        ];
        // `?1` becomes `json_extract(?1, '$')`, which is 19 bytes longer.
        let values = [Value::I64(1)];
        let prepared = Prepared::of("SELECT ?1 FORM t", &values, true).unwrap();
        for (text, kind, outcome, message) in table {
            let StatementFailure { error, outcome: found } = explain(text, &prepared).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((error.kind, error.message.as_str(), found), (kind, message, outcome), "{text}");
            let source = error.source.as_deref().unwrap();
            assert!(!source.is_empty() && text.contains(source) && !source.contains("SQLITE_") && !source.contains("offset"), "{source}");
        }
    }

    #[test]
    fn what_a_search_is_for_is_told_from_a_column_that_is_missing() {
        let kind = |statement: &str, text: &str| explain(text, &Prepared::of(statement, &[], true).unwrap()).unwrap().error.kind;
        let search = "SELECT * FROM docs WHERE docs MATCH ?1";
        assert_eq!(kind(search, "D1_ERROR: no such column: ada: SQLITE_ERROR"), ErrorKind::Data);
        assert_eq!(kind(search, "D1_ERROR: no such column: ada at offset 7: SQLITE_ERROR"), ErrorKind::Syntax);
        assert_eq!(kind(search, "D1_ERROR: no such table: ada: SQLITE_ERROR"), ErrorKind::Syntax);
        assert_eq!(kind("SELECT ada FROM docs", "D1_ERROR: no such column: ada: SQLITE_ERROR"), ErrorKind::Syntax);
    }

    #[test]
    fn words_of_the_schema_are_not_taken_for_a_sentence_of_d1() {
        for text in [
            "no such table: overloaded: SQLITE_ERROR",
            "no such column: exceeded: SQLITE_ERROR",
            "near \"broken.\": syntax error: SQLITE_ERROR",
        ] {
            let failure = explain(text, &Prepared::of("SELECT 1", &[], true).unwrap()).unwrap();
            assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Syntax, Execution::Final), "{text}");
        }
        let failure = of_message("D1_ERROR: something new", &Prepared::of("SELECT 1", &[], true).unwrap());
        assert_eq!((failure.error.kind, failure.outcome), (ErrorKind::Protocol, Execution::Unknown));
    }
}
