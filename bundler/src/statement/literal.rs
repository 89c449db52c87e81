//! The inside of a text literal: escapes undone, placeholders kept.

use std::ops::Range;

use super::{dialect::Dialect, lex::Prefix, masked::MaskedStatement};

/// A piece of a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    Text(String),
    /// The index of a placeholder.
    Mark(usize),
}

/// An escape that cannot be undone, and where it stands in the masked text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadEscape(pub(super) Range<usize>);

/// Undoes the escapes of a literal's body.
pub(super) fn decode(
    masked: &MaskedStatement<'_>,
    body: Range<usize>,
    prefix: Prefix,
    dialect: Dialect,
) -> Result<Vec<Decoded>, BadEscape> {
    let quote = masked.text[..body.start].chars().next_back().unwrap_or('\'');
    let backslashes = dialect.has_backslashes() || prefix == Prefix::Escape;
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut at = body.start;
    while let Some(c) = masked.text[at..body.end].chars().next() {
        let rest = &masked.text[at..body.end];
        if let Some(mark) = masked.mark_at(at) {
            if !text.is_empty() {
                pieces.push(Decoded::Text(std::mem::take(&mut text)));
            }
            pieces.push(Decoded::Mark(mark));
            at += 1;
        } else if c == quote {
            // The lexer ended the literal at a quote that stands alone: this one is doubled.
            text.push(quote);
            at += 2;
        } else if c == '\\' && prefix == Prefix::Unicode {
            let Some((unescaped, length)) = unicode_escape(rest) else { return Err(BadEscape(at..at + 1)) };
            text.push(unescaped);
            at += length;
        } else if c == '\\' && backslashes {
            let escape = match dialect {
                Dialect::MySql => mysql_escape(rest),
                Dialect::ClickHouse => clickhouse_escape(rest),
                Dialect::Sqlite | Dialect::Postgres | Dialect::PartiQl => postgres_escape(rest),
            };
            let Some((unescaped, length)) = escape else { return Err(BadEscape(at..at + 1)) };
            text.push_str(&unescaped);
            at += length;
        } else {
            text.push(c);
            at += c.len_utf8();
        }
    }
    if !text.is_empty() {
        pieces.push(Decoded::Text(text));
    }
    Ok(pieces)
}

/// PostgreSQL's name between the quotes of `U&"…"`. `None` where an escape in it stands for nothing.
pub(super) fn unicode_name(text: &str) -> Option<String> {
    let (mut name, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let (character, length) = if first == '\\' { unicode_escape(rest)? } else { (first, first.len_utf8()) };
        name.push(character);
        rest = &rest[length + usize::from(first == '"')..];
    }
    Some(name)
}

/// ClickHouse's name between quotes.
pub(super) fn clickhouse_name(text: &str, quote: char) -> String {
    let (mut name, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => match clickhouse_escape(rest) {
                Some((unescaped, length)) => {
                    name.push_str(&unescaped);
                    length
                }
                None => 2,
            },
            _ => {
                name.push(first);
                if first == quote { 2 } else { first.len_utf8() }
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    name
}

/// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-UESCAPE>, without a pair of surrogates.
fn unicode_escape(rest: &str) -> Option<(char, usize)> {
    let digits = |from: usize, length: usize| {
        let digits = rest.get(from..from + length).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        Some((u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).filter(|found| *found != '\0')?, from + length))
    };
    match rest[1..].chars().next()? {
        '\\' => Some(('\\', 2)),
        '+' => digits(2, 6),
        _ => digits(1, 4),
    }
}

/// <https://clickhouse.com/docs/sql-reference/syntax#string>
fn clickhouse_escape(rest: &str) -> Option<(String, usize)> {
    let escaped = rest[1..].chars().next().filter(|&c| c != '\0')?;
    let unescaped = match escaped {
        'a' => "\u{7}".to_owned(),
        'b' => "\u{8}".to_owned(),
        'e' => "\u{1b}".to_owned(),
        'f' => "\u{c}".to_owned(),
        'n' => "\n".to_owned(),
        'r' => "\r".to_owned(),
        't' => "\t".to_owned(),
        'v' => "\u{b}".to_owned(),
        '0' => "\0".to_owned(),
        '\\' | '\'' | '"' | '`' | '/' | '=' => escaped.to_string(),
        'x' => {
            let code = rest.get(2..4).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii)?;
            return Some((char::from(code).to_string(), 4));
        }
        // Nothing, in places.
        'N' => return None,
        // The backslash stays, for LIKE and regular expressions.
        other if !other.is_control() => format!("\\{other}"),
        other => other.to_string(),
    };
    Some((unescaped, 1 + escaped.len_utf8()))
}

/// <https://dev.mysql.com/doc/refman/8.4/en/string-literals.html>
fn mysql_escape(rest: &str) -> Option<(String, usize)> {
    let escaped = rest[1..].chars().next().filter(|&c| c != '\0')?;
    let unescaped = match escaped {
        '0' => "\0".to_owned(),
        'b' => "\u{8}".to_owned(),
        'n' => "\n".to_owned(),
        'r' => "\r".to_owned(),
        't' => "\t".to_owned(),
        'Z' => "\u{1a}".to_owned(),
        // They stay escaped, for LIKE.
        '%' | '_' => format!("\\{escaped}"),
        other => other.to_string(),
    };
    Some((unescaped, 1 + escaped.len_utf8()))
}

/// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-ESCAPE>
fn postgres_escape(rest: &str) -> Option<(String, usize)> {
    let escaped = rest[1..].chars().next().filter(|&c| c != '\0')?;
    let digits = |from: usize, most: usize, radix: u32| {
        let found: String = rest[from..].chars().take(most).take_while(|c| c.is_digit(radix)).collect();
        u32::from_str_radix(&found, radix).ok().map(|code| (code, from + found.len()))
    };
    // A byte from 128 is part of a character of the server's encoding; alone it is none.
    let byte =
        |(code, length): (u32, usize)| char::from_u32(code & 0xff).filter(|c| c.is_ascii() && *c != '\0').map(|c| (c.to_string(), length));
    let character = |(code, length): (u32, usize), expected: usize| {
        char::from_u32(code).filter(|c| *c != '\0' && length == expected).map(|c| (c.to_string(), length))
    };
    match escaped {
        'b' => Some(("\u{8}".to_owned(), 2)),
        'f' => Some(("\u{c}".to_owned(), 2)),
        'n' => Some(("\n".to_owned(), 2)),
        'r' => Some(("\r".to_owned(), 2)),
        't' => Some(("\t".to_owned(), 2)),
        '0'..='7' => digits(1, 3, 8).and_then(byte),
        'x' => match digits(2, 2, 16) {
            Some(found) => byte(found),
            None => Some(("x".to_owned(), 2)),
        },
        'u' => digits(2, 4, 16).and_then(|found| character(found, 6)),
        'U' => digits(2, 8, 16).and_then(|found| character(found, 10)),
        other => Some((other.to_string(), 1 + other.len_utf8())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placeholder;

    #[test]
    fn names_have_escapes_in_places() {
        assert_eq!(unicode_name(r#"\0061b""c\\"#).as_deref(), Some(r#"ab"c\"#));
        assert_eq!(unicode_name(r"\006"), None);
        assert_eq!(clickhouse_name(r"a\`b``c\n", '`'), "a`b`c\n");
    }

    fn show(text: &str, prefix: Prefix, dialect: Dialect) -> Option<String> {
        let quoted = format!("'{text}'");
        let masked = MaskedStatement::new(&quoted, placeholder::scan(&quoted).0);
        let end = masked.text.len() - 1;
        let pieces = decode(&masked, 1..end, prefix, dialect).ok()?;
        Some(
            pieces
                .iter()
                .map(|piece| match piece {
                    Decoded::Text(text) => text.clone(),
                    Decoded::Mark(mark) => format!("<{mark}>"),
                })
                .collect(),
        )
    }

    #[test]
    fn undoes_the_escapes_of_each_dialect() {
        use Dialect::{MySql, Postgres, Sqlite};
        for (dialect, prefix, text, expected) in [
            (Sqlite, Prefix::None, "%{{ a }}%", Some("%<0>%")),
            (Sqlite, Prefix::None, "it''s {{ a }}{{ b }}''", Some("it's <0><1>'")),
            (Sqlite, Prefix::None, r"a\n{{ a }}\", Some(r"a\n<0>\")),
            (Postgres, Prefix::None, r"a\n{{ a }}", Some(r"a\n<0>")),
            (MySql, Prefix::None, r"\n\t\0\Z\'\\\%\_\q{{ a }}''", Some("\n\t\0\u{1a}'\\\\%\\_q<0>'")),
            (MySql, Prefix::None, r"\{{ a }}", None),
            (Postgres, Prefix::Escape, r"\n\'\\\101\x41\x4\u00e9\U0001F600\q{{ a }}", Some("\n'\\AA\u{4}é😀q<0>")),
            (Postgres, Prefix::Escape, r"\xff{{ a }}", None),
            (Postgres, Prefix::Escape, r"\u12{{ a }}", None),
            (Postgres, Prefix::Escape, r"\0{{ a }}", None),
            (Postgres, Prefix::Unicode, r"d\0061t\+01F600\\ it''s", Some("dat😀\\ it's")),
            (Postgres, Prefix::Unicode, r"\d83d\de00", None),
            (Sqlite, Prefix::None, "{{ '{{' }}{{ a }}}}", Some("{{<0>}}")),
        ] {
            assert_eq!(show(text, prefix, dialect).as_deref(), expected, "{dialect:?} {text}");
        }
    }
}
