//! What the drivers of SQLite's dialect share: just enough of its grammar to find placeholders, words and the end of a statement, and
//! the form of arrays.

use std::ops::Range;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Json, value::Value};

/// A token that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// `?7`; a bare `?` has the number 0.
    Placeholder(usize),
    /// A keyword or a name without quotes.
    Word,
    /// `;`
    Semicolon,
    /// A literal, a quoted name, a number or a sign.
    Other,
}

/// The tokens of a statement and their places; blanks and comments are left out. Grammar: <https://sqlite.org/lang.html>.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = (Token, Range<usize>)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at;
            let byte = *bytes.get(at)?;
            let token = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c => {
                    at += 1;
                    continue;
                }
                b'-' if bytes.get(at + 1) == Some(&b'-') => {
                    at = text[at..].find('\n').map_or(bytes.len(), |length| at + length);
                    continue;
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    at = text[at + 2..].find("*/").map_or(bytes.len(), |length| at + 2 + length + 2);
                    continue;
                }
                b'\'' | b'"' | b'`' => {
                    at = closed(bytes, at, byte);
                    Token::Other
                }
                b'[' => {
                    at = text[at..].find(']').map_or(bytes.len(), |length| at + length + 1);
                    Token::Other
                }
                b'?' => {
                    at = run(bytes, at + 1, |byte| byte.is_ascii_digit());
                    Token::Placeholder(text[start + 1..at].parse().unwrap_or(0))
                }
                b';' => {
                    at += 1;
                    Token::Semicolon
                }
                // A literal such as `1e5` is one token, not a word.
                b'0'..=b'9' | b'.' => {
                    at = run(bytes, at + 1, |byte| is_name(byte) || byte == b'.');
                    Token::Other
                }
                _ if is_name(byte) => {
                    at = run(bytes, at + 1, is_name);
                    Token::Word
                }
                _ => {
                    at += 1;
                    Token::Other
                }
            };
            return Some((token, start..at));
        }
    })
}

/// An element of an array, for `json_each`: integers stay exact, because SQLite reads them as 64-bit integers.
pub(crate) fn element(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::I64(value) => Json::from(*value),
        Value::U64(value) => i64::try_from(*value).map_or_else(|_| Json::String(value.to_string()), Json::from),
        Value::F64(value) => Json::from(*value),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => Json::String(STANDARD.encode(bytes)),
        Value::Json(json) => json.clone(),
        Value::Array(elements) => Json::Array(elements.iter().map(element).collect()),
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn run(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|byte| !belongs(*byte)).map_or(bytes.len(), |length| from + length)
}

/// The end of a quoted token; a doubled quote stays inside.
fn closed(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        if bytes[at] == quote {
            if bytes.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_comments_hide_what_is_in_them() {
        let text = "a '?1''?2' \"?3\"\"\" `?4` [?5] -- ?6\n /* ?7 */ ?8 ß?9; 1e5?10 'open";
        let found: Vec<(Token, &str)> = tokens(text).map(|(token, range)| (token, &text[range])).collect();
        let expected = [
            (Token::Word, "a"),
            (Token::Other, "'?1''?2'"),
            (Token::Other, "\"?3\"\"\""),
            (Token::Other, "`?4`"),
            (Token::Other, "[?5]"),
            (Token::Placeholder(8), "?8"),
            (Token::Word, "ß"),
            (Token::Placeholder(9), "?9"),
            (Token::Semicolon, ";"),
            (Token::Other, "1e5"),
            (Token::Placeholder(10), "?10"),
            (Token::Other, "'open"),
        ];
        assert_eq!(found, expected);
    }
}
