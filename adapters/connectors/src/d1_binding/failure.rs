//! D1's errors as the core's: what the caller can do, in words that hold no value.
//!
//! D1 says `D1_ERROR: <SQLite's words>: SQLITE_CONSTRAINT (extended: …)`. Errors: <https://developers.cloudflare.com/d1/observability/debug-d1/>.

use millrace_core::{Error, ErrorKind};

use super::statement::Prepared;

/// What D1 says when a database or its host goes away. Whether the statement ran is not known.
const PASSING: [&str; 8] = [
    "network connection lost",
    "internal error",
    "storage caused object to be reset",
    "storage operation exceeded timeout",
    "reset because its code was updated",
    "cannot resolve d1 db due to transient issue",
    "can't read from request stream",
    "broken.",
];

/// The core's error for the message of one of D1's.
#[must_use]
pub fn explain(text: &str, prepared: &Prepared) -> Error {
    let (kind, message) = kind_and_message(text, prepared);
    Error::new(kind, message).with_source(words(text))
}

/// SQLite's own words: without D1's word before, the place, which counts in the text that was sent, and the code after.
fn words(text: &str) -> &str {
    let words = text.trim_start_matches("D1_ERROR: ").trim_start_matches("D1_EXEC_ERROR: ");
    let words = words.split_once(": SQLITE_").map_or(words, |(words, _)| words);
    match words.rsplit_once(" at offset ") {
        Some((words, place)) if place.bytes().all(|byte| byte.is_ascii_digit()) => words,
        _ => words,
    }
}

fn kind_and_message(text: &str, prepared: &Prepared) -> (ErrorKind, String) {
    let words = text.trim_start_matches("D1_ERROR: ").trim_start_matches("D1_EXEC_ERROR: ");
    let lower = words.to_ascii_lowercase();
    let says = |part: &str| lower.contains(part);
    if says("overloaded") || says("too many requests queued") || says("sqlite_busy") || says("sqlite_locked") {
        return (ErrorKind::Busy, "D1 has too much to do".into());
    }
    if PASSING.iter().any(|part| says(part)) {
        return (ErrorKind::Unavailable, "D1 cannot be reached, or is starting anew".into());
    }
    if says("constraint failed") {
        return (ErrorKind::Constraint, constraint(words));
    }
    if says("sqlite_mismatch") || says("datatype mismatch") {
        return (ErrorKind::Constraint, "a value does not have the type of its column".into());
    }
    if says("sqlite_auth") || says("not authorized") {
        return (ErrorKind::Denied, "D1 does not allow the statement".into());
    }
    if says("sqlite_toobig") || says("too big") || says("too large") {
        return (ErrorKind::TooLarge, "a text or blob, or the statement, is longer than D1 allows".into());
    }
    if says("sqlite_nomem") || says("sqlite_full") || says("maximum db size") {
        return (ErrorKind::Unavailable, "the database is full, or D1 ran out of memory".into());
    }
    if says("sqlite_limit") || says("exceeded") || says("timed out") {
        return (ErrorKind::TimedOut, "the statement took more than D1 allows".into());
    }
    let offset =
        words.split_once(" at offset ").and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok());
    let place = offset.map_or_else(String::new, |offset| format!(" at byte {}", prepared.original_offset(offset)));
    (ErrorKind::Syntax, format!("SQLite does not understand the statement{place}"))
}

/// Names the kind of the constraint, and the column or check. The texts are the schema's, not values.
fn constraint(words: &str) -> String {
    let kinds = ["UNIQUE", "PRIMARY KEY", "NOT NULL", "FOREIGN KEY", "CHECK"];
    let Some((before, after)) = words.split_once(" constraint failed") else {
        return "a constraint of the database refused the change".into();
    };
    let Some(kind) = kinds.into_iter().find(|kind| before.ends_with(kind)) else {
        return "a constraint of the database refused the change".into();
    };
    let subject =
        after.strip_prefix(": ").and_then(|rest| rest.split(": SQLITE_").next()).filter(|subject| !subject.starts_with("SQLITE_"));
    match subject {
        Some(subject) => format!("a {kind} constraint refused the change: `{subject}`"),
        None => format!("a {kind} constraint refused the change"),
    }
}

#[cfg(test)]
mod tests {
    use millrace_core::value::Value;

    use super::*;

    #[test]
    fn sentences_become_kinds() {
        let prepared = Prepared::of("SELECT ?1 FORM t", &[Value::I64(1)]).unwrap();
        let offset = prepared.text.find("FORM").unwrap();
        let syntax = format!("D1_ERROR: near \"t\": syntax error at offset {offset}: SQLITE_ERROR");
        let table = [
            (syntax.as_str(), ErrorKind::Syntax, "SQLite does not understand the statement at byte 10"),
            ("D1_ERROR: no such table: x: SQLITE_ERROR", ErrorKind::Syntax, "SQLite does not understand the statement"),
            (
                "D1_ERROR: UNIQUE constraint failed: users.email: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)",
                ErrorKind::Constraint,
                "a UNIQUE constraint refused the change: `users.email`",
            ),
            (
                "D1_ERROR: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT",
                ErrorKind::Constraint,
                "a FOREIGN KEY constraint refused the change",
            ),
            ("D1_ERROR: Network connection lost.", ErrorKind::Unavailable, "D1 cannot be reached, or is starting anew"),
            ("D1_ERROR: D1 DB is overloaded. Too many requests queued.", ErrorKind::Busy, "D1 has too much to do"),
            ("D1_ERROR: not authorized: SQLITE_AUTH", ErrorKind::Denied, "D1 does not allow the statement"),
            (
                "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
                ErrorKind::Unavailable,
                "D1 cannot be reached, or is starting anew",
            ),
            (
                "D1_ERROR: string or blob too big: SQLITE_TOOBIG",
                ErrorKind::TooLarge,
                "a text or blob, or the statement, is longer than D1 allows",
            ),
        ];
        for (text, kind, message) in table {
            let error = explain(text, &prepared);
            assert_eq!((error.kind, error.message.as_str()), (kind, message), "{text}");
            assert!(
                error.source.is_some_and(|source| !source.is_empty() && text.contains(&source) && !source.contains("SQLITE_")),
                "{text}"
            );
        }
    }
}
