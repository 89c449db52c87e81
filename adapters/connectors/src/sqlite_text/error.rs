//! SQLite's errors as text, as remote servers tell them: code and words → what the caller can do,
//! in words that hold no value.
//!
//! Codes: <https://sqlite.org/rescode.html>.

use millrace_core::{Error, ErrorKind};

/// What SQLite says when a function refuses a value. Its code is that of a statement that it does
/// not understand.
const OF_VALUES: [&str; 14] = [
    "integer overflow",
    "malformed JSON",
    "JSON cannot hold BLOB values",
    "bad JSON path",
    "JSON path error",
    "LIKE or GLOB pattern too complex",
    "ESCAPE expression must be a single character",
    "parser stack overflow",
    "fts5: ",
    "unterminated string",
    "malformed MATCH expression",
    "unknown special query",
    "row value misused",
    "second argument to",
];

/// What is said of a value in a column of another type.
pub(crate) const WRONG_TYPE: &str = "a value does not have the type of its column";

/// The kinds of constraint whose name begins SQLite's message.
const CONSTRAINTS: [&str; 5] = ["UNIQUE", "PRIMARY KEY", "NOT NULL", "CHECK", "FOREIGN KEY"];

/// Explains an error. `code` is `SQLITE_…`, with its extension or without; `text` is SQLite's
/// message alone.
pub(crate) fn explain(code: &str, text: &str) -> (ErrorKind, String) {
    let primary: String = code.split('_').take(2).collect::<Vec<_>>().join("_");
    let (kind, message) = match primary.as_str() {
        "SQLITE_CONSTRAINT" if text.starts_with("cannot store ") => (ErrorKind::Data, WRONG_TYPE),
        "SQLITE_CONSTRAINT" => return (ErrorKind::Constraint, constraint(code, text)),
        "SQLITE_MISMATCH" => (ErrorKind::Data, WRONG_TYPE),
        "SQLITE_BUSY" | "SQLITE_LOCKED" | "SQLITE_PROTOCOL" => (ErrorKind::Busy, "the database is locked by another connection"),
        "SQLITE_INTERRUPT" => (ErrorKind::TimedOut, "the server stopped the statement, because it took too long"),
        "SQLITE_READONLY" => (ErrorKind::Denied, "the database is read-only"),
        "SQLITE_AUTH" | "SQLITE_PERM" => (ErrorKind::Denied, "the server forbids the statement"),
        "SQLITE_TOOBIG" => (ErrorKind::Data, "a text or blob is longer than the server allows"),
        "SQLITE_CORRUPT" => (ErrorKind::Protocol, "the database file is damaged"),
        "SQLITE_NOTADB" => (ErrorKind::Protocol, "the database file is not a SQLite database"),
        "SQLITE_FULL" => (ErrorKind::Unavailable, "the disk of the database is full"),
        "SQLITE_CANTOPEN" | "SQLITE_IOERR" => (ErrorKind::Unavailable, "the server cannot read or write the database file"),
        "SQLITE_NOMEM" => (ErrorKind::Unavailable, "the server ran out of memory"),
        "SQLITE_RANGE" => (ErrorKind::Syntax, "the statement expects a different number of values"),
        // Servers give their own name to what SQLite has no name for.
        "SQLITE_ERROR" | "SQLITE_UNKNOWN" | "SQLITE_SCHEMA" => of_words(text),
        _ => (ErrorKind::Protocol, "SQLite failed in an unexpected way"),
    };
    (kind, message.to_owned())
}

/// The error of a statement that was understood, and failed when it ran. Where it `searches`, which
/// is asked where it matters: a word of the search that looks like the name of a column is told of
/// as a column that is missing. `source` is SQLite's message alone.
pub(crate) fn of_search(error: Error, searches: impl FnOnce() -> bool) -> Error {
    let is_of_column = error.kind == ErrorKind::Syntax && error.source.as_deref().is_some_and(|text| text.starts_with("no such column"));
    if is_of_column && searches() { error.with_kind(ErrorKind::Data).with_message(of_value("fts5: ")) } else { error }
}

fn of_words(text: &str) -> (ErrorKind, &'static str) {
    if text.starts_with("not authorized") || text.starts_with("access to ") {
        return (ErrorKind::Denied, "the server forbids the statement");
    }
    if OF_VALUES.into_iter().any(|known| text.starts_with(known)) {
        return (ErrorKind::Data, of_value(text));
    }
    (ErrorKind::Syntax, "SQLite does not understand the statement")
}

/// What is wrong with a value, or with what is computed from one. SQLite's own words may have the
/// value.
pub(crate) fn of_value(text: &str) -> &'static str {
    let has = |part: &str| text.contains(part);
    if has("fts5: ") || has("unterminated string") || has("MATCH expression") || has("unknown special query") {
        "SQLite refused a value or the result of a computation: a text is not a query of a full-text search; words with other characters than letters \
         need quotes"
    } else if has("JSON") {
        "SQLite refused a value or the result of a computation: a JSON document, or a path into one, is not valid"
    } else if has("integer overflow") {
        "SQLite refused a value or the result of a computation: a number is out of range"
    } else if has("ESCAPE expression") || has("pattern too complex") {
        "SQLite refused a value or the result of a computation: the pattern or the escape of `LIKE` or `GLOB` is not valid"
    } else {
        "SQLite refused a value or the result of a computation"
    }
}

/// Names the kind of the constraint, and the column or check where SQLite names it. The texts are
/// the schema's, not values; what a trigger says may hold values and is left out.
fn constraint(code: &str, text: &str) -> String {
    let named = CONSTRAINTS.into_iter().find_map(|kind| Some((kind, text.strip_prefix(kind)?.strip_prefix(" constraint failed")?)));
    let Some((kind, rest)) = named else {
        return "a constraint of the database refused the change".to_owned();
    };
    // SQLite itself says `UNIQUE` of a primary key, too, and tells the two apart by the extended
    // code alone.
    let kind = if code.ends_with("_PRIMARYKEY") { "PRIMARY KEY" } else { kind };
    match rest.strip_prefix(": ") {
        Some(subject) => format!("a {kind} constraint refused the change: `{subject}`"),
        None => format!("a {kind} constraint refused the change"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_words_are_told_apart() {
        use ErrorKind::{Busy, Constraint, Data, Denied, Protocol, Syntax, TimedOut, Unavailable};
        let table = [
            ("SQLITE_CONSTRAINT", "UNIQUE constraint failed: t.id", Constraint, "a UNIQUE constraint refused the change: `t.id`"),
            (
                "SQLITE_CONSTRAINT_PRIMARYKEY",
                "UNIQUE constraint failed: t.id",
                Constraint,
                "a PRIMARY KEY constraint refused the change: `t.id`",
            ),
            ("SQLITE_CONSTRAINT", "FOREIGN KEY constraint failed", Constraint, "a FOREIGN KEY constraint refused the change"),
            ("SQLITE_CONSTRAINT", "the value secret is taken", Constraint, "a constraint of the database refused the change"),
            ("SQLITE_CONSTRAINT", "the secret UNIQUE constraint failed: x", Constraint, "a constraint of the database refused the change"),
            ("SQLITE_CONSTRAINT", "cannot store TEXT value in INT column c.a", Data, "a value does not have the type of its column"),
            ("SQLITE_MISMATCH", "datatype mismatch", Data, "a value does not have the type of its column"),
            ("SQLITE_BUSY_SNAPSHOT", "database is locked", Busy, "the database is locked by another connection"),
            ("SQLITE_INTERRUPT", "interrupted", TimedOut, "the server stopped the statement, because it took too long"),
            ("SQLITE_READONLY", "attempt to write a readonly database", Denied, "the database is read-only"),
            ("SQLITE_AUTH", "not authorized", Denied, "the server forbids the statement"),
            ("SQLITE_UNKNOWN", "not authorized", Denied, "the server forbids the statement"),
            ("SQLITE_TOOBIG", "string or blob too big", Data, "a text or blob is longer than the server allows"),
            ("SQLITE_CORRUPT", "database disk image is malformed", Protocol, "the database file is damaged"),
            ("SQLITE_IOERR_READ", "disk I/O error", Unavailable, "the server cannot read or write the database file"),
            ("SQLITE_ERROR", "no such table: nowhere", Syntax, "SQLite does not understand the statement"),
            (
                "SQLITE_UNKNOWN",
                "malformed JSON",
                Data,
                "SQLite refused a value or the result of a computation: a JSON document, or a path into one, is not valid",
            ),
            (
                "SQLITE_ERROR",
                "fts5: syntax error near \"secret\"",
                Data,
                "SQLite refused a value or the result of a computation: a text is not a query of a full-text search; words with other characters than \
                 letters need quotes",
            ),
            ("SQLITE_NEW", "secret", Protocol, "SQLite failed in an unexpected way"),
        ];
        for (code, text, kind, message) in table {
            assert_eq!(explain(code, text), (kind, message.to_owned()), "{code} {text}");
        }
    }
}
