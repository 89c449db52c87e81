//! The tokens of a statement. Grammar: <https://sqlite.org/lang.html>.

use std::ops::Range;

/// A token, as much of it as matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A keyword, a number, or a name without quotes.
    Word(&'a str),
    /// A literal in single quotes.
    Text(&'a str),
    /// A name in double quotes, backticks or brackets.
    Quoted(&'a str),
    /// `?7`, or `?` with nothing behind it.
    Placeholder(&'a str),
    /// What begins a parameter with a name: `:`, `@`, `$`.
    Named,
    Semicolon,
    Open,
    Close,
    Dot,
    Other,
}

impl<'a> Token<'a> {
    /// Whether it is a word without quotes, in any case.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(text) if text.eq_ignore_ascii_case(word))
    }

    /// The name that it stands for, without quotes.
    pub(super) fn name(&self) -> Option<&'a str> {
        match self {
            Self::Word(text) => Some(text),
            Self::Quoted(text) | Self::Text(text) => Some(text.trim_matches(['"', '`', '[', ']', '\''])),
            _ => None,
        }
    }
}

/// The tokens of a statement and their places; comments and blanks are left out.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = (Token<'_>, Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            let length = match first {
                _ if first.is_ascii_whitespace() || first == '\u{b}' || first == '\u{feff}' => {
                    at += first.len_utf8();
                    continue;
                }
                '-' if rest.starts_with("--") => {
                    at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                '/' if rest.starts_with("/*") => {
                    at += rest.get(2..).and_then(|inner| inner.find("*/")).map_or(rest.len(), |end| end + 4);
                    continue;
                }
                '\'' | '"' | '`' => quoted(rest, first),
                '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
                '?' => 1 + rest[1..].find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len() - 1),
                _ if is_word(first) => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
                _ => first.len_utf8(),
            };
            let range = at..at + length;
            at = range.end;
            let token = &text[range.clone()];
            let token = match first {
                ';' => Token::Semicolon,
                '(' => Token::Open,
                ')' => Token::Close,
                '.' => Token::Dot,
                '\'' => Token::Text(token),
                '"' | '`' | '[' => Token::Quoted(token),
                '?' => Token::Placeholder(token),
                ':' | '@' | '$' => Token::Named,
                _ if is_word(first) => Token::Word(token),
                _ => Token::Other,
            };
            return Some((token, range));
        }
    })
}

/// The length of what begins with a quote; a doubled quote stands for one.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if character == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '$' || !character.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_comments_hide_what_is_in_them() {
        let text = "a '?1''?2' \"?3\"\"\" `?4` [?5] -- ?6\n /* ?7 */ ?8 ß?9; 1e5?10 a$b $c (x.y) /* 'open";
        let found: Vec<(Token<'_>, &str)> = tokens(text).map(|(token, range)| (token, &text[range])).collect();
        let expected = [
            (Token::Word("a"), "a"),
            (Token::Text("'?1''?2'"), "'?1''?2'"),
            (Token::Quoted("\"?3\"\"\""), "\"?3\"\"\""),
            (Token::Quoted("`?4`"), "`?4`"),
            (Token::Quoted("[?5]"), "[?5]"),
            (Token::Placeholder("?8"), "?8"),
            (Token::Word("ß"), "ß"),
            (Token::Placeholder("?9"), "?9"),
            (Token::Semicolon, ";"),
            (Token::Word("1e5"), "1e5"),
            (Token::Placeholder("?10"), "?10"),
            (Token::Word("a$b"), "a$b"),
            (Token::Named, "$c"),
            (Token::Open, "("),
            (Token::Word("x"), "x"),
            (Token::Dot, "."),
            (Token::Word("y"), "y"),
            (Token::Close, ")"),
        ];
        assert_eq!(found, expected);
        for open in ["'open", "\"open", "`open", "[open", "-- open", "/* open", "/*", "/", "?", "'"] {
            assert!(tokens(open).all(|(_, range)| range.end <= open.len()), "{open}");
        }
    }
}
