//! The tokens of a statement. Grammar: <https://sqlite.org/lang.html>.

use core::ops::Range;

use super::lexicon::Sqlite;
use crate::{
    lex::{self, Kind, Unread},
    pieces::Pieces,
};

/// A token, as much of it as matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
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
    /// `;`
    Semicolon,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `.`
    Dot,
    /// Anything else.
    Other,
}

impl<'a> Token<'a> {
    /// Whether it is a word without quotes, in any case.
    #[must_use]
    pub fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(text) if text.eq_ignore_ascii_case(word))
    }

    /// The name that it stands for, without quotes.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        match self {
            Self::Word(text) => Some(text),
            Self::Quoted(text) | Self::Text(text) => Some(text.trim_matches(['"', '`', '[', ']', '\''])),
            _ => None,
        }
    }
}

/// The tokens of a statement and their places; comments and blanks are left out.
///
/// # Errors
/// What cannot be cut; nothing comes after it.
pub fn tokens(text: &str) -> impl Iterator<Item = Result<(Token<'_>, Range<usize>), Unread>> {
    Pieces::<Sqlite>::new(text).filter_map(move |cut| match cut {
        Err(unread) => Some(Err(unread)),
        Ok(lex::Token { kind, range }) => {
            let token = text.get(range.clone()).unwrap_or_default();
            let token = match kind {
                Kind::Space | Kind::Comment { .. } => return None,
                // `$name`, too, of which the sign may be part of a word.
                Kind::Word if token.starts_with('$') => Token::Named,
                Kind::Word | Kind::Number => Token::Word(token),
                Kind::Literal { .. } => Token::Text(token),
                Kind::Quoted => Token::Quoted(token),
                Kind::Parameter => Token::Placeholder(token),
                Kind::Sign(b':' | b'@' | b'$') => Token::Named,
                Kind::Sign(b';') => Token::Semicolon,
                Kind::Sign(b'(') => Token::Open,
                Kind::Sign(b')') => Token::Close,
                Kind::Sign(b'.') => Token::Dot,
                Kind::Sign(_) | Kind::Dollar | Kind::Mark => Token::Other,
            };
            Some(Ok((token, range)))
        }
    })
}

/// As [`tokens`], of a statement that was looked at before.
pub fn known_tokens(text: &str) -> impl Iterator<Item = (Token<'_>, Range<usize>)> {
    tokens(text).filter_map(Result::ok)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn quotes_and_comments_hide_what_is_in_them() {
        let text = "a '?1''?2' \"?3\"\"\" `?4` [?5] -- ?6\n /* ?7 */ ?8 ß?9; 1e5?10 a$b $c (x.y)";
        let found: Vec<(Token<'_>, &str)> = known_tokens(text).map(|(token, range)| (token, &text[range])).collect();
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
        for open in ["'open", "\"open", "`open", "[open", "/* open", "/*", "'", "a\u{a0}b", "\u{feff}a", "a \u{b} b"] {
            assert!(tokens(open).any(|cut| cut.is_err()), "{open}");
        }
    }
}
