//! A statement and its values as D1 binds them.

use std::ops::Range;

use millrace_core::{Error, ErrorKind, Json, Result, value::Value};

use super::sql::{Token, tokens};
use crate::remote::Effect;

/// A value as D1 binds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// `null`
    Null,
    /// A number, which D1 binds as `REAL`.
    Number(f64),
    /// A string.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// A statement that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The text. Placeholders of integers are wrapped, so that what is bound as text becomes an integer.
    pub text: String,
    /// The values, in the order of their numbers.
    pub params: Vec<Param>,
    /// Whether it has result columns; else it says how many rows it changed.
    pub has_rows: bool,
    /// Whether it may change anything.
    pub writes: bool,
    /// Where a placeholder was wrapped: its place in `text`, and how much longer it became.
    wrapped: Vec<(Range<usize>, usize)>,
}

/// Words with which a statement begins that only reads.
const READING: [&str; 3] = ["select", "values", "explain"];
/// Words that stand in a statement that writes, and else only in quotes.
const WRITING: [&str; 3] = ["insert", "update", "delete"];
/// Pragmas that only tell.
const QUESTIONS: [&str; 6] = ["table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"];

impl Prepared {
    /// Makes a statement ready: the text with placeholders `?1`, `?2`, … and one value for each number.
    ///
    /// # Errors
    /// [`Syntax`](ErrorKind::Syntax) where the text holds more than one statement, or none.
    pub fn of(text: &str, values: &[Value]) -> Result<Self> {
        let tokens: Vec<(Token, Range<usize>)> = tokens(text).collect();
        one_statement(&tokens)?;
        let mut prepared = Self {
            text: String::with_capacity(text.len() + 32),
            params: values.iter().map(param).collect(),
            has_rows: true,
            writes: true,
            wrapped: Vec::new(),
        };
        let mut copied = 0;
        for (token, range) in &tokens {
            let Token::Placeholder(number) = token else { continue };
            let Some(value) = number.checked_sub(1).and_then(|index| values.get(index)) else { continue };
            let Some(kind) = wrapping(value) else { continue };
            prepared.text.push_str(&text[copied..range.start]);
            let start = prepared.text.len();
            let placeholder = &text[range.clone()];
            // The sign takes the affinity off that the cast would lend to what it is compared with.
            prepared.text.push_str(&format!("(+CAST({placeholder} AS {kind}))"));
            prepared.wrapped.push((start..prepared.text.len(), prepared.text.len() - start - placeholder.len()));
            copied = range.end;
        }
        prepared.text.push_str(&text[copied..]);
        let words: Vec<&str> = tokens.iter().filter(|(token, _)| *token == Token::Word).map(|(_, range)| &text[range.clone()]).collect();
        (prepared.has_rows, prepared.writes) = effect(&words);
        Ok(prepared)
    }

    /// What the statement does, for [`Retry`](crate::remote::Retry).
    #[must_use]
    pub const fn effect(&self) -> Effect {
        Effect { reads: !self.writes, returns: self.has_rows }
    }

    /// The place in the author's text for a place in the text that was sent.
    #[must_use]
    pub fn original_offset(&self, offset: usize) -> usize {
        let longer: usize = self.wrapped.iter().filter(|(range, _)| range.end <= offset).map(|(_, more)| more).sum();
        offset.saturating_sub(longer)
    }

    /// A column's name with the wrapping of placeholders undone: `SELECT ?1` names its column `?1`.
    #[must_use]
    pub fn original_name(&self, name: &str) -> String {
        self.wrapped.iter().fold(name.to_owned(), |name, (range, _)| {
            let wrapped = &self.text[range.clone()];
            let inner = wrapped.strip_prefix("(+CAST(").and_then(|rest| rest.split_once(" AS ")).map_or("", |(inner, _)| inner);
            name.replace(wrapped, inner)
        })
    }
}

fn one_statement(tokens: &[(Token, Range<usize>)]) -> Result<()> {
    let end = tokens.iter().position(|(token, _)| *token == Token::Semicolon).unwrap_or(tokens.len());
    if tokens[end..].iter().any(|(token, _)| *token != Token::Semicolon) {
        // A trigger's body holds semicolons; whoever makes triggers does it with wrangler.
        return Err(Error::new(ErrorKind::Syntax, "the query holds more than one statement"));
    }
    if end == 0 {
        return Err(Error::new(ErrorKind::Syntax, "the query holds no statement"));
    }
    Ok(())
}

/// Whether a statement has result columns, and whether it may write.
fn effect(words: &[&str]) -> (bool, bool) {
    let is = |index: usize, list: &[&str]| words.get(index).is_some_and(|word| list.iter().any(|known| known.eq_ignore_ascii_case(word)));
    let has = |list: &[&str]| (0..words.len()).any(|index| is(index, list));
    if is(0, &READING) {
        return (true, false);
    }
    if is(0, &["pragma"]) {
        return (true, !is(1, &QUESTIONS));
    }
    // `REPLACE INTO` after `WITH`; the function `replace(` is no write.
    let replaces = (0..words.len()).any(|index| is(index, &["replace"]) && is(index + 1, &["into"]));
    if is(0, &["with"]) && !has(&WRITING) && !replaces {
        return (true, false);
    }
    (has(&["returning"]), true)
}

/// The type to which a text is cast that stands for a value; `None` where the value is bound as it is.
fn wrapping(value: &Value) -> Option<&'static str> {
    match value {
        Value::Bool(_) | Value::I64(_) => Some("INTEGER"),
        Value::U64(value) if i64::try_from(*value).is_ok() => Some("INTEGER"),
        // JSON has no infinity; SQLite reads this as one.
        Value::F64(value) if value.is_infinite() => Some("REAL"),
        _ => None,
    }
}

fn param(value: &Value) -> Param {
    match value {
        Value::Null => Param::Null,
        Value::Bool(value) => Param::Text(u8::from(*value).to_string()),
        Value::I64(value) => Param::Text(value.to_string()),
        Value::U64(value) => Param::Text(value.to_string()),
        Value::F64(value) if value.is_nan() => Param::Null,
        Value::F64(value) if value.is_infinite() => Param::Text(if *value > 0.0 { "9e999" } else { "-9e999" }.into()),
        Value::F64(value) => Param::Number(*value),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Param::Text(text.clone()),
        Value::Bytes(bytes) => Param::Blob(bytes.clone()),
        Value::Json(document) => Param::Text(document.to_string()),
        Value::Array(elements) => Param::Text(Json::Array(elements.iter().map(super::sql::element).collect()).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_bound_as_text_and_cast() {
        let values = [Value::I64(i64::MIN), Value::Text("?1".into()), Value::F64(2.0), Value::Bool(true)];
        let prepared = Prepared::of("SELECT '?1', ?2 AS t, [?1], ?1, ?3 -- ?1\nWHERE a = ?4;", &values).unwrap();
        assert_eq!(prepared.text, "SELECT '?1', ?2 AS t, [?1], (+CAST(?1 AS INTEGER)), ?3 -- ?1\nWHERE a = (+CAST(?4 AS INTEGER));");
        let expected = [Param::Text(i64::MIN.to_string()), Param::Text("?1".into()), Param::Number(2.0), Param::Text("1".into())];
        assert_eq!(prepared.params, expected);
        assert_eq!(prepared.original_name("(+CAST(?1 AS INTEGER))"), "?1");
        assert_eq!(prepared.original_name("t"), "t");
        let place = prepared.text.find("WHERE").unwrap();
        assert_eq!(prepared.original_offset(place), "SELECT '?1', ?2 AS t, [?1], ?1, ?3 -- ?1\n".len());
        assert_eq!(prepared.original_offset(3), 3);
    }

    #[test]
    fn what_a_statement_does() {
        let table = [
            ("SELECT 1", true, false),
            ("  /* x */ values (1)", true, false),
            ("WITH a AS (SELECT replace('a', 'b', 'c')) SELECT * FROM a", true, false),
            ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", false, true),
            ("WITH a AS (SELECT 1) REPLACE INTO t SELECT * FROM a", false, true),
            ("INSERT INTO t VALUES ('returning')", false, true),
            ("DELETE FROM t RETURNING id", true, true),
            ("PRAGMA table_info(t)", true, false),
            ("PRAGMA user_version = 5", true, true),
            ("CREATE TABLE \"select\" (a)", false, true),
        ];
        for (text, has_rows, writes) in table {
            let prepared = Prepared::of(text, &[]).unwrap();
            assert_eq!((prepared.has_rows, prepared.writes), (has_rows, writes), "{text}");
        }
    }

    #[test]
    fn one_statement_and_only_one() {
        for wrong in ["", " -- nothing", ";", "SELECT 1; SELECT 2", "SELECT 1; ; DROP TABLE t"] {
            assert_eq!(Prepared::of(wrong, &[]).map_err(|error| error.kind), Err(ErrorKind::Syntax), "{wrong}");
        }
        for right in ["SELECT 1;", "SELECT ';'", "SELECT 1 -- ; SELECT 2", "SELECT 1 /* ; */ ;;"] {
            assert!(Prepared::of(right, &[]).is_ok(), "{right}");
        }
    }
}
