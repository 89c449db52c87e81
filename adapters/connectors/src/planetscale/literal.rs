//! A statement and its values → one text.
//!
//! Where a `?` is a place for a value, the tokens of the statement say, which are those that the
//! statement was looked at by before. What is written there is one of these, and nothing else:
//!
//! | value | literal |
//! |---|---|
//! | no value | `NULL` |
//! | truth value | `1`, `0` |
//! | integer | its digits; a negative one as `(-7)` |
//! | decimal | its digits, always with a point: `1.50`, `7.` |
//! | double | its digits with an exponent: `1e300` |
//! | text | `_utf8mb4 0x6f276e`; an empty one `_utf8mb4 x''` |
//! | bytes | `_binary 0x00ff`; none `_binary x''` |
//!
//! None of them has a character that ends a text in quotes, a name in backticks or a comment (two
//! quotes in a row are one within a text), or that an escape could begin with. So a value stays a
//! value whatever the server's `sql_mode` is, and even where the server should see the place
//! differently.
//!
//! An integer that stands alone in `ORDER BY` or `GROUP BY` would be the number of a column: there
//! it is `CAST(1 AS SIGNED)`. `LIMIT` takes nothing but digits.

use std::{fmt::Write as _, ops::Range};

use millrace_core::{Error, ErrorKind, Result, hex, value::Value};

use crate::mysql_text::{Parameter, Token, is_word, token};

/// What ends the list of `ORDER BY` or `GROUP BY`.
const END_LISTS: [&str; 20] = [
    "EXCEPT",
    "FOR",
    "FROM",
    "GROUPS",
    "HAVING",
    "INTERSECT",
    "INTO",
    "LIMIT",
    "LOCK",
    "OFFSET",
    "ORDER",
    "RANGE",
    "ROWS",
    "SELECT",
    "SET",
    "UNION",
    "VALUES",
    "WHERE",
    "WINDOW",
    "WITH",
];

/// The whole text of a statement.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) text: String,
    /// Where each value is: in the statement, and in the text.
    pub(super) places: Vec<(usize, Range<usize>)>,
}

/// What is around a place, as far as it matters.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// It is in the list of `ORDER BY` or `GROUP BY`.
    in_list: bool,
}

/// Where the values of a statement belong: the offsets of its `?`, in bytes. An integer at a place
/// that is marked would be the number of a column.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) where a `?` stands in the middle of a name, and
/// [`Denied`](ErrorKind::Denied) for a comment whose text is run.
fn places(text: &str) -> Result<Vec<(usize, bool)>> {
    let mut places = Vec::new();
    let mut rest = text;
    let mut frames = vec![Frame::default()];
    let (mut may_be_column, mut last) = (false, Token::Sign(' '));
    loop {
        let token = token(&mut rest).map_err(|_| Error::new(ErrorKind::Denied, "the statement has a comment whose text is run"))?;
        let Some(token) = token else { return Ok(places) };
        let in_list = frames.last().is_some_and(|frame| frame.in_list);
        match token {
            Token::Sign('?') => {
                if matches!(last, Token::Sign('@' | '.' | ':')) {
                    return Err(Error::new(ErrorKind::Syntax, "a `?` for a value must not follow `@`, `.` or `:`"));
                }
                places.push((text.len() - rest.len() - 1, may_be_column));
                may_be_column = false;
            }
            Token::Word(word) if word.eq_ignore_ascii_case("BY") => {
                set_list(&mut frames, true);
                may_be_column = true;
            }
            Token::Word(word) => {
                if END_LISTS.iter().any(|end| end.eq_ignore_ascii_case(word)) {
                    set_list(&mut frames, false);
                }
                may_be_column = false;
            }
            Token::Sign(',') => may_be_column = in_list,
            // What stands alone between parentheses, or behind a sign, is what it is without.
            Token::Sign('(') => frames.push(Frame::default()),
            Token::Sign('+' | '-') => {}
            Token::Sign(')') => {
                frames.pop();
                may_be_column = false;
            }
            Token::Name(_) | Token::Quoted | Token::Sign(_) => may_be_column = false,
        }
        last = token;
    }
}

fn set_list(frames: &mut Vec<Frame>, in_list: bool) {
    match frames.last_mut() {
        Some(frame) => frame.in_list = in_list,
        None => frames.push(Frame { in_list }),
    }
}

/// Writes each value where it belongs.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax) for another number of values than of places, and as [`places`];
/// [`Data`](ErrorKind::Data) for a value that MySQL does not have.
pub(super) fn write(text: &str, values: &[Value]) -> Result<Written> {
    let places = places(text)?;
    if places.len() != values.len() {
        return Err(Error::new(ErrorKind::Syntax, "the statement expects a different number of values"));
    }
    let mut written = Written { text: String::with_capacity(text.len() + 32 * values.len()), places: Vec::with_capacity(values.len()) };
    let mut copied = 0;
    for ((at, may_be_column), value) in places.into_iter().zip(values) {
        let out = &mut written.text;
        let (before, after) = text.split_at(at);
        out.push_str(before.get(copied..).unwrap_or_default());
        // A blank only where two tokens would become one: between `--` and a number, it would begin
        // a comment.
        if before.chars().next_back().is_some_and(joins) {
            out.push(' ');
        }
        let start = out.len();
        put(out, &Parameter::of(value)?, may_be_column)?;
        written.places.push((at, start..out.len()));
        if after.chars().nth(1).is_some_and(joins) {
            out.push(' ');
        }
        copied = at + 1;
    }
    written.text.push_str(text.get(copied..).unwrap_or_default());
    Ok(written)
}

/// Whether a character and a literal beside it could be one token.
fn joins(character: char) -> bool {
    is_word(character) || matches!(character, '.' | '\'' | '"' | '`')
}

fn put(out: &mut String, parameter: &Parameter<'_>, may_be_column: bool) -> Result<()> {
    let outcome = match parameter {
        Parameter::Null => write!(out, "NULL"),
        Parameter::Bool(truth) => put_integer(out, u64::from(*truth), false, may_be_column),
        Parameter::I64(number) => put_integer(out, number.unsigned_abs(), *number < 0, may_be_column),
        Parameter::U64(number) => put_integer(out, *number, false, may_be_column),
        Parameter::Double(number) if number.is_sign_negative() => write!(out, "({number:e})"),
        Parameter::Double(number) => write!(out, "{number:e}"),
        Parameter::Decimal(digits) => {
            let plain = digits.strip_prefix('-').unwrap_or(digits);
            let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
            let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
                return Err(Error::new(ErrorKind::Data, "a value is not a decimal number"));
            }
            match plain.len() == digits.len() {
                true => write!(out, "{whole}.{fraction}"),
                false => write!(out, "(-{whole}.{fraction})"),
            }
        }
        Parameter::Text(text) => put_bytes(out, "_utf8mb4", text.as_bytes()),
        Parameter::Bytes(bytes) => put_bytes(out, "_binary", bytes),
    };
    outcome.map_err(|_| Error::new(ErrorKind::TooLarge, "the statement and its values are too large"))
}

fn put_integer(out: &mut String, number: u64, is_negative: bool, may_be_column: bool) -> std::fmt::Result {
    let sign = if is_negative { "-" } else { "" };
    match may_be_column {
        true if number > i64::MAX as u64 && !is_negative => write!(out, "CAST({number} AS UNSIGNED)"),
        true => write!(out, "CAST({sign}{number} AS SIGNED)"),
        false if is_negative => write!(out, "(-{number})"),
        false => write!(out, "{number}"),
    }
}

fn put_bytes(out: &mut String, set: &str, bytes: &[u8]) -> std::fmt::Result {
    match bytes {
        [] => write!(out, "{set} x''"),
        _ => write!(out, "{set} 0x{}", hex::encode(bytes)),
    }
}

/// Puts a hint into a `SELECT`, right behind its first word: when the server ends it, in
/// milliseconds. Where its author has put one there, that holds.
pub(super) fn with_limit(text: &str, limit_ms: u64) -> Option<(usize, String)> {
    let mut rest = text;
    let Ok(Some(Token::Word(word))) = token(&mut rest) else { return None };
    if !word.eq_ignore_ascii_case("SELECT") || rest.trim_start().starts_with("/*+") {
        return None;
    }
    let limit_ms = limit_ms.clamp(1, u32::MAX.into());
    Some((text.len() - rest.len(), format!(" /*+ MAX_EXECUTION_TIME({limit_ms}) */")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, values: &[Value]) -> String {
        write(text, values).unwrap_or_else(|error| panic!("{text}: {error:?}")).text
    }

    #[test]
    fn every_value_has_one_form() {
        for (value, literal) in [
            (Value::Null, "NULL"),
            (Value::Bool(true), "1"),
            (Value::Bool(false), "0"),
            (Value::I64(9_007_199_254_740_993), "9007199254740993"),
            (Value::I64(i64::MIN), "(-9223372036854775808)"),
            (Value::U64(u64::MAX), "18446744073709551615"),
            (Value::F64(0.1), "0.1"),
            (Value::F64(7.0), "7."),
            (Value::F64(-7.0), "(-7.)"),
            (Value::F64(1e300), "1e300"),
            (Value::F64(5e-324), "5e-324"),
            (Value::F64(-0.0), "(-0e0)"),
            (Value::F64(-1e300), "(-1e300)"),
            (Value::Decimal("1.50".into()), "1.50"),
            (Value::Decimal("-12345678901234567890.10".into()), "(-12345678901234567890.10)"),
            (Value::Text("o'n\\\0".into()), "_utf8mb4 0x6f276e5c00"),
            (Value::Text(String::new()), "_utf8mb4 x''"),
            (Value::Bytes(vec![0, 255]), "_binary 0x00ff"),
            (Value::Bytes(vec![]), "_binary x''"),
            (Value::Json(serde_json::json!([1])), "_utf8mb4 0x5b315d"),
            (Value::Array(vec![Value::I64(1)]), "_utf8mb4 0x5b315d"),
            (Value::Timestamp("2026-01-02T05:04:05.1+02:00".into()), "_utf8mb4 0x323032362d30312d30322030333a30343a30352e31"),
        ] {
            assert_eq!(written("SELECT ?", std::slice::from_ref(&value)), format!("SELECT {literal}"), "{value:?}");
            // No literal can end a text, a name or a comment, however it came there.
            let without = literal.replace("x''", "");
            assert!(
                without.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _.()-".contains(&byte)) && !without.contains("--"),
                "{literal}"
            );
        }
        for value in [Value::F64(f64::NAN), Value::F64(f64::NEG_INFINITY)] {
            assert_eq!(write("SELECT ?", &[value]).unwrap_err().message, "MySQL has neither infinities nor NaN");
        }
        for digits in ["", "-", "1e5", ".5", "1.5.5", "NaN", "0x1f", "1;", "--1", "٣"] {
            let error = write("SELECT ?", &[Value::Decimal(digits.into())]).unwrap_err();
            assert_eq!(error.message, "a value is not a decimal number", "{digits}");
        }
    }

    #[test]
    fn values_stand_where_the_tokens_say() {
        let one = [Value::I64(7)];
        for (text, expected) in [
            (
                "SELECT '?', \"?\", `?`, 'a''?', 'a\\'?', ? -- ?\n # ?\n /* ? */",
                "SELECT '?', \"?\", `?`, 'a''?', 'a\\'?', 7 -- ?\n # ?\n /* ? */",
            ),
            ("SELECT?FROM t", "SELECT 7 FROM t"),
            ("SELECT 1--?", "SELECT 1--7"),
            ("SELECT 1-?", "SELECT 1-7"),
            ("SELECT ?.5", "SELECT 7 .5"),
            ("SELECT 1?", "SELECT 1 7"),
            ("SELECT a LIMIT ?", "SELECT a LIMIT 7"),
            ("SELECT a ORDER BY b LIMIT ?", "SELECT a ORDER BY b LIMIT 7"),
            ("SELECT a ORDER BY ?", "SELECT a ORDER BY CAST(7 AS SIGNED)"),
            ("SELECT a ORDER BY b, ((+?)) DESC", "SELECT a ORDER BY b, ((+CAST(7 AS SIGNED))) DESC"),
            ("SELECT a ORDER BY FIELD(a, ?)", "SELECT a ORDER BY FIELD(a, 7)"),
            ("SELECT a GROUP BY a + ?", "SELECT a GROUP BY a + 7"),
            ("SELECT a FROM (SELECT b GROUP BY 1, ?) t", "SELECT a FROM (SELECT b GROUP BY 1, CAST(7 AS SIGNED)) t"),
            ("SELECT a GROUP BY a HAVING b IN (1, ?)", "SELECT a GROUP BY a HAVING b IN (1, 7)"),
            ("INSERT INTO t VALUES (1, ?)", "INSERT INTO t VALUES (1, 7)"),
        ] {
            assert_eq!(written(text, &one), expected);
        }
        assert_eq!(written("SELECT a LIMIT ?,?", &[Value::I64(1), Value::I64(2)]), "SELECT a LIMIT 1,2");
        assert_eq!(written("SELECT a ORDER BY ?", &[Value::U64(u64::MAX)]), "SELECT a ORDER BY CAST(18446744073709551615 AS UNSIGNED)");
        assert_eq!(written("SELECT a ORDER BY ?", &[Value::I64(-1)]), "SELECT a ORDER BY CAST(-1 AS SIGNED)");
        for text in ["SELECT t.?", "SELECT @?", "SELECT @@ ?", "SELECT :?", "SELECT 1.?"] {
            let error = write(text, &one).map(|written| written.text).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Syntax, "{text}");
        }
        for (text, values) in [("SELECT 1", &one[..]), ("SELECT ?, ?", &one), ("SELECT ?", &[])] {
            assert_eq!(write(text, values).unwrap_err().message, "the statement expects a different number of values");
        }
    }

    #[test]
    fn a_select_says_when_it_ends() {
        let hinted = |text: &str| with_limit(text, 2000).map(|(at, hint)| format!("{}{hint}{}", &text[..at], &text[at..]));
        assert_eq!(hinted("/* a */ select 1").as_deref(), Some("/* a */ select /*+ MAX_EXECUTION_TIME(2000) */ 1"));
        for text in ["SELECT /*+ NO_INDEX_MERGE(t) */ 1", "(SELECT 1)", "INSERT INTO t SELECT 1", "WITH a AS (SELECT 1) SELECT 1", ""] {
            assert_eq!(hinted(text), None, "{text}");
        }
    }
}
