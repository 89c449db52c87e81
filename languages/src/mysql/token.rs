//! The tokens of a statement, cut as the server cuts it with the `sql_mode` of the session: a
//! backslash escapes, and text stands in either quotes.

use core::ops::Range;

use super::lexicon::MySql;
use crate::{
    lex::{self, Kind, Unread},
    pieces::Pieces,
    refusal::{Refusal, Why},
};

/// What the text of a comment that is run is called in messages.
const RUN_COMMENT: &str = "the text of a comment, `/*! … */`";

/// A token, as much of it as matters here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// A keyword, or a name without quotes.
    Word(&'a str),
    /// A name in backticks, without them.
    Name(&'a str),
    /// A text in quotes.
    Quoted,
    /// Anything else, by its first character.
    Sign(char),
}

/// Why the tokens of a statement are not looked at any further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untold {
    /// The text of a comment is run; its bytes.
    RunsComment(Range<usize>),
    /// It cannot be cut.
    Unread(Unread),
}

impl From<Untold> for Refusal {
    fn from(untold: Untold) -> Self {
        match untold {
            Untold::RunsComment(range) => Self::new(Why::NotRun(RUN_COMMENT.into()), range),
            Untold::Unread(unread) => unread.into(),
        }
    }
}

/// The tokens of a statement and their places; blanks and comments are passed over.
///
/// # Errors
/// It cannot be cut, or has a comment whose text would be run.
pub fn tokens(text: &str) -> impl Iterator<Item = Result<(Token<'_>, Range<usize>), Untold>> {
    Pieces::<MySql>::new(text).filter_map(move |piece| {
        let lex::Token { kind, range } = match piece {
            Ok(token) => token,
            Err(unread) => return Some(Err(Untold::Unread(unread))),
        };
        let found = text.get(range.clone()).unwrap_or_default();
        let token = match kind {
            Kind::Space | Kind::Comment { executable: false } => return None,
            Kind::Comment { executable: true } => return Some(Err(Untold::RunsComment(range))),
            Kind::Word => Token::Word(found),
            Kind::Quoted => Token::Name(found.trim_matches('`')),
            Kind::Literal { .. } => Token::Quoted,
            _ => Token::Sign(found.chars().next().unwrap_or(' ')),
        };
        Some(Ok((token, range)))
    })
}

/// Takes the next token of a text; `None` at its end.
///
/// # Errors
/// As [`tokens`].
pub fn token<'a>(rest: &mut &'a str) -> Result<Option<Token<'a>>, Untold> {
    let text = *rest;
    let Some(next) = tokens(text).next() else {
        *rest = "";
        return Ok(None);
    };
    let (token, range) = next?;
    *rest = text.get(range.end..).unwrap_or_default();
    Ok(Some(token))
}

/// As [`tokens`], up to what cannot be cut.
pub fn known_tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    tokens(text).map_while(|token| token.ok().map(|(token, _)| token))
}

/// Whether a statement has a word, or a name that is written so.
#[must_use]
pub fn contains_word(text: &str, word: &str) -> bool {
    known_tokens(text).any(|token| matches!(token, Token::Word(found) | Token::Name(found) if found.eq_ignore_ascii_case(word)))
}

/// Whether a statement calls a function, whose name may stand in backticks.
#[must_use]
pub fn calls_function(text: &str, name: &str) -> bool {
    let mut is_name = false;
    for token in known_tokens(text) {
        match token {
            Token::Sign('(') if is_name => return true,
            Token::Word(found) | Token::Name(found) => is_name = found.eq_ignore_ascii_case(name),
            _ => is_name = false,
        }
    }
    false
}
