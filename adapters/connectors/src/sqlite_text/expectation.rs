//! What is expected of a step of a transaction, as a statement that fails where it does not hold:
//! for a server that is sent all statements at once.

use std::ops::Range;

use millrace_core::{
    Error, ErrorKind, Result,
    app::Access,
    ports::{BoundStep, BoundTransaction},
    value::Value,
};
use millrace_languages::sqlite::token::{Token, known_tokens};

use super::{before_end, changes_rows, check};
use crate::shared::StatementFailure;

/// What the failing statement says, before the number of the step and that of its rows. It is the
/// path of a JSON value, which SQLite repeats in its error.
const MARK: &str = "millrace: step ";

/// The statement that fails unless the step before it changed, or returned, as many rows as is
/// expected; and the values that it takes. `None` where nothing is expected.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied) for a step whose rows cannot be counted.
pub(crate) fn guard<'v>(place: usize, step: &BoundStep<'_>, values: &'v [Value], connector: &str) -> Result<Option<(String, &'v [Value])>> {
    let Some(expected) = step.expect else { return Ok(None) };
    let effect = check(&step.text, connector)?;
    // A statement that the build understood as one that reads is one, whatever its common table
    // expressions are called.
    let reads = effect.reads || step.access == Access::Read;
    let (counted, values) = if !reads {
        // SQLite counts nothing for what changes no rows, and would tell the number of the
        // statement before.
        (if changes_rows(&step.text) { "changes()".to_owned() } else { "0".to_owned() }, &values[..0])
    } else {
        let selects = first(&step.text).is_some_and(|(token, _)| ["SELECT", "VALUES", "WITH"].into_iter().any(|word| token.is(word)));
        if !selects {
            let message = format!("connector `{connector}` cannot count the rows of this statement, which `expect` asks for");
            return Err(Error::new(ErrorKind::Denied, message));
        }
        // The statement is counted by running it again.
        if let Some(word) = varying(&step.text) {
            let message = format!(
                "connector `{connector}` cannot count the rows of this statement, which `expect` asks for, because of `{word}`: it may give \
                 another result each time"
            );
            return Err(Error::new(ErrorKind::Denied, message));
        }
        (format!("(SELECT count(*) FROM (\n{}\n))", from_first(before_end(&step.text))), values)
    };
    // The path depends on the count, so that SQLite cannot compute it beforehand.
    let text = format!(
        "SELECT json_extract('{{}}', CASE n WHEN {expected} THEN '$' ELSE '{MARK}{place}, rows ' || n END) FROM (SELECT {counted} AS n)"
    );
    Ok(Some((text, values)))
}

/// The failure of a transaction, in which a guard's is told in the words of the step that it is
/// for.
pub(crate) fn told(failure: StatementFailure, steps: &BoundTransaction<'_>) -> StatementFailure {
    let words = failure.error.source.as_deref().unwrap_or_default();
    let numbers = words.split_once(MARK).and_then(|(_, rest)| {
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        Some((numbers.next()?.parse::<usize>().ok()?, numbers.next()?.parse::<u64>().ok()?))
    });
    let Some((place, found)) = numbers else { return failure };
    // A value of the caller may be such a path.
    if steps.steps.get(place).and_then(|step| step.expect).is_none_or(|expected| expected == found) {
        return failure;
    }
    let returned = steps.steps.get(place).is_some_and(|step| check(&step.text, "").is_ok_and(|effect| effect.returns));
    StatementFailure::last(steps.unexpected(place, found, returned))
}

/// What in a statement may be different when it runs again.
fn varying(text: &str) -> Option<&'static str> {
    const WORDS: [&str; 6] = ["random", "randomblob", "current_timestamp", "current_time", "current_date", "now"];
    const CLOCKS: [&str; 6] = ["date", "time", "datetime", "julianday", "strftime", "unixepoch"];
    let words: Vec<Token<'_>> = known_tokens(text).map(|(token, _)| token).collect();
    let named = |word: &&'static str| {
        words.iter().any(|token| token.is(word) || matches!(token, Token::Text(text) if text.trim_matches('\'').eq_ignore_ascii_case(word)))
    };
    // A function of dates without a date is one of the clock.
    let clock = |word: &&'static str| words.windows(3).any(|three| matches!(three, [name, Token::Open, Token::Close] if name.is(word)));
    WORDS.into_iter().find(named).or_else(|| CLOCKS.into_iter().find(clock))
}

/// A statement without semicolons before it.
fn from_first(text: &str) -> &str {
    first(text).and_then(|(_, range)| text.get(range.start..)).unwrap_or(text)
}

fn first(text: &str) -> Option<(Token<'_>, Range<usize>)> {
    known_tokens(text).find(|(token, _)| *token != Token::Semicolon)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn step(text: &'static str, expect: Option<u64>) -> BoundStep<'static> {
        BoundStep { name: "s", text: Cow::Borrowed(text), parameters: Vec::new(), access: Access::Write, expect }
    }

    #[test]
    fn each_kind_of_statement_is_counted_in_its_way() {
        let path = |counted: &str, expected: u64| {
            format!(
                "SELECT json_extract('{{}}', CASE n WHEN {expected} THEN '$' ELSE 'millrace: step 3, rows ' || n END) FROM (SELECT {counted} AS n)"
            )
        };
        let values = [Value::I64(1)];
        let table = [
            ("UPDATE t SET a = ?1;", path("changes()", 1), 0),
            ("insert INTO t VALUES (?1) RETURNING id", path("changes()", 1), 0),
            ("WITH x AS (SELECT 1) DELETE FROM t", path("changes()", 1), 0),
            ("CREATE TABLE u (a)", path("0", 1), 0),
            ("; SELECT a, ';' FROM t -- all ;\n ; -- the end", path("(SELECT count(*) FROM (\nSELECT a, ';' FROM t -- all ;\n \n))", 1), 1),
            ("WITH x AS (SELECT 1) SELECT * FROM x", path("(SELECT count(*) FROM (\nWITH x AS (SELECT 1) SELECT * FROM x\n))", 1), 1),
            ("VALUES (1), (?1)", path("(SELECT count(*) FROM (\nVALUES (1), (?1)\n))", 1), 1),
        ];
        for (text, expected, count) in table {
            let (guard, taken) = guard(3, &step(text, Some(1)), &values, "d1").unwrap().unwrap();
            assert_eq!((guard, taken.len()), (expected, count), "{text}");
        }
        assert_eq!(guard(0, &step("DELETE FROM t", None), &values, "d1"), Ok(None));
        let named = BoundStep { access: Access::Read, ..step("WITH replace AS (SELECT 1) SELECT * FROM replace", Some(0)) };
        assert!(guard(0, &named, &[], "d1").unwrap().unwrap().0.contains("SELECT count(*)"));
        for text in ["SELECT * FROM t WHERE random() > 0", "SELECT 1 WHERE a < datetime('now')", "SELECT date()", "SELECT CURRENT_DATE"] {
            let refused = guard(0, &step(text, Some(1)), &[], "d1").unwrap_err();
            assert!(refused.kind == ErrorKind::Denied && refused.message.contains("each time"), "{text}: {refused:?}");
        }
        assert!(guard(0, &step("SELECT date(made), 'randomly' FROM t", Some(1)), &[], "d1").is_ok());
        for text in ["PRAGMA table_list", "EXPLAIN SELECT 1"] {
            let refused = guard(0, &step(text, Some(1)), &[], "d1").unwrap_err();
            assert_eq!(refused.message, "connector `d1` cannot count the rows of this statement, which `expect` asks for", "{text}");
        }
    }

    #[test]
    fn a_guards_failure_is_that_of_its_step() {
        let steps = [step("SELECT 1", Some(1)), step("DELETE FROM t", Some(2))];
        let transaction = BoundTransaction { steps: &steps, result: None };
        let table = [
            ("bad JSON path: 'millrace: step 1, rows 12'", "the step `s` changed 12 rows, and 2 were expected; nothing was changed"),
            ("JSON path error near 'millrace: step 0, rows 0'", "the step `s` returned 0 rows, and 1 was expected; nothing was changed"),
        ];
        for (words, message) in table {
            let failure = StatementFailure::last(Error::new(ErrorKind::Constraint, "refused").with_source(words));
            let error = told(failure, &transaction).error;
            assert_eq!((error.kind, error.source.as_deref(), error.message.as_str()), (ErrorKind::Expectation, None, message));
        }
        let other =
            told(StatementFailure::last(Error::new(ErrorKind::Constraint, "refused").with_source("bad JSON path: 'x'")), &transaction);
        assert_eq!(other.error.kind, ErrorKind::Constraint);
    }
}
