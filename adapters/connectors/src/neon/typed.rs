//! The types of values, declared in the text of a statement.
//!
//! The protocol of PostgreSQL declares a parameter's type beside the statement. The SQL API does
//! not, and a number would be what its place makes of it: `SELECT $1` a text, `left('abc', $1)` the
//! function for two texts. PostgreSQL reads a statement's `WITH` first and keeps the type that it
//! finds there: `WITH millrace_types AS (SELECT ARRAY[$1::int4]) SELECT $1` is what `SELECT $1` is
//! with the type declared, down to the name of its column, and a part of `WITH` that nothing refers
//! to is not executed. The types are in arrays, one for each, because a `SELECT` has fewer columns
//! than a statement has values. The statement itself stays as it is, so nothing in it needs to be
//! told apart from a placeholder.

use millrace_core::{Error, ErrorKind, Result};

use crate::postgres_text::{Parameter, word};

/// The statements that a `WITH` may stand before.
const TAKE_WITH: [&str; 7] = ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "VALUES", "TABLE"];

/// Declares the types of the values that have one. What takes no `WITH`, such as `CALL`, stays as
/// it is.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for a text without a statement.
pub(super) fn with_types(text: &str, params: &[Parameter]) -> Result<String> {
    let mut rest = text;
    let first = word(&mut rest);
    if first.is_empty() && rest.is_empty() {
        return Err(Error::new(ErrorKind::Syntax, "the query contains no statement"));
    }
    let mut of_types: Vec<(&str, String)> = Vec::new();
    for (at, param) in params.iter().enumerate() {
        let Some(name) = param.type_name() else { continue };
        let value = format!("${}::pg_catalog.{name}", at + 1);
        match of_types.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.extend([", ", value.as_str()]),
            None => of_types.push((name, value)),
        }
    }
    let declared = of_types.iter().map(|(_, values)| format!("ARRAY[{values}]")).collect::<Vec<_>>().join(", ");
    let types = format!("millrace_types AS (SELECT {declared})");
    Ok(if declared.is_empty() {
        text.to_owned()
    } else if first.eq_ignore_ascii_case("WITH") {
        let at = text.len() - after_recursive(rest).len();
        let (with, parts) = text.split_at(at);
        format!("{with} {types}, {parts}")
    } else if takes_with(text) {
        let (before, statement) = text.split_at(text.len() - rest.len() - first.len());
        format!("{before}WITH {types} {statement}")
    } else {
        text.to_owned()
    })
}

/// Whether a `WITH` may stand before a statement, or is its first word. Such a statement can be
/// prepared, too.
pub(super) fn takes_with(text: &str) -> bool {
    let mut rest = text;
    let first = word(&mut rest);
    rest.starts_with('(') && first.is_empty()
        || TAKE_WITH.iter().any(|known| first.eq_ignore_ascii_case(known))
        || first.eq_ignore_ascii_case("WITH")
}

/// What follows `RECURSIVE`, where that is not the name of the first part.
fn after_recursive(parts: &str) -> &str {
    let mut rest = parts;
    if !word(&mut rest).eq_ignore_ascii_case("RECURSIVE") {
        return parts;
    }
    let mut after = rest;
    let second = word(&mut after);
    let is_name = second.eq_ignore_ascii_case("AS") || second.is_empty() && after.starts_with('(');
    if is_name { parts } else { rest }
}

#[cfg(test)]
mod tests {
    use millrace_core::value::Value;

    use super::*;

    #[test]
    fn types_are_declared_before_everything_else() {
        let values = [Value::I64(1), Value::Text("x".into()), Value::Bytes(vec![1]), Value::I64(2)];
        let params: Vec<Parameter> = values.iter().map(Parameter::of).collect();
        let types = "millrace_types AS (SELECT ARRAY[$1::pg_catalog.int4, $4::pg_catalog.int4], ARRAY[$3::pg_catalog.bytea])";
        for (text, expected) in [
            ("SELECT $1", "WITH {} SELECT $1"),
            (" ;-- SELECT\n/* a /* b */ */insert INTO t VALUES ($1)", " ;-- SELECT\n/* a /* b */ */WITH {} insert INTO t VALUES ($1)"),
            ("(SELECT 1) UNION SELECT $1", "WITH {} (SELECT 1) UNION SELECT $1"),
            ("with a AS (SELECT 1) SELECT $1", "with {},  a AS (SELECT 1) SELECT $1"),
            ("WITH RECURSIVE a AS (SELECT 1) SELECT $1", "WITH RECURSIVE {},  a AS (SELECT 1) SELECT $1"),
            ("WITH/**/RECURSIVE\"a\"AS (SELECT 1) SELECT $1", "WITH/**/RECURSIVE {}, \"a\"AS (SELECT 1) SELECT $1"),
            ("WITH recursive AS (SELECT 1) SELECT $1", "WITH {},  recursive AS (SELECT 1) SELECT $1"),
            ("WITH recursive (v) AS (SELECT 1) SELECT $1", "WITH {},  recursive (v) AS (SELECT 1) SELECT $1"),
            ("CALL p($1)", "CALL p($1)"),
            ("EXPLAIN SELECT $1", "EXPLAIN SELECT $1"),
        ] {
            assert_eq!(with_types(text, &params).unwrap(), expected.replace("{}", types), "{text}");
            assert_eq!(with_types(text, &params[1..2]).unwrap(), text);
        }
        for text in ["", " ;; ", "-- nothing", "/* nothing */"] {
            assert_eq!(with_types(text, &params).unwrap_err().message, "the query contains no statement");
        }
    }
}
