//! The tokens of a statement.

use alloc::vec::Vec;

use crate::lex::{Kind, Token};

/// The tokens of a statement, with the questions that the rules ask of them. Neighbours skip space
/// and comments.
#[derive(Debug)]
pub struct Tokens<'a> {
    /// The text that they were cut from, in which a placeholder of an app is a NUL character.
    pub text: &'a str,
    /// All of them, in order.
    pub all: Vec<Token>,
}

impl<'a> Tokens<'a> {
    /// The token before one.
    #[must_use]
    pub fn before(&self, token: usize) -> Option<usize> {
        (0..token).rev().find(|&at| self.is_significant(at))
    }

    /// The token after one.
    #[must_use]
    pub fn after(&self, token: usize) -> Option<usize> {
        (token + 1..self.all.len()).find(|&at| self.is_significant(at))
    }

    /// Those that are neither space nor comments.
    pub fn significant(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.all.len()).filter(|&at| self.is_significant(at))
    }

    /// What a token is.
    #[must_use]
    pub fn kind(&self, token: usize) -> Option<&Kind> {
        self.all.get(token).map(|token| &token.kind)
    }

    /// Its text.
    #[must_use]
    pub fn text(&self, token: usize) -> &'a str {
        self.all.get(token).and_then(|token| self.text.get(token.range.clone())).unwrap_or_default()
    }

    /// The text of a keyword or an unquoted name.
    #[must_use]
    pub fn word(&self, token: Option<usize>) -> Option<&'a str> {
        token.filter(|&token| self.kind(token) == Some(&Kind::Word)).map(|token| self.text(token))
    }

    /// Whether a token is this word, in any case.
    #[must_use]
    pub fn is_word(&self, token: Option<usize>, word: &str) -> bool {
        self.word(token).is_some_and(|found| found.eq_ignore_ascii_case(word))
    }

    /// Whether a token is one of these words, in any case.
    #[must_use]
    pub fn is_any_word(&self, token: Option<usize>, words: &[&str]) -> bool {
        self.word(token).is_some_and(|found| words.iter().any(|word| found.eq_ignore_ascii_case(word)))
    }

    /// Whether a token is this sign.
    #[must_use]
    pub fn is_sign(&self, token: Option<usize>, sign: u8) -> bool {
        token.is_some_and(|token| self.kind(token) == Some(&Kind::Sign(sign)))
    }

    /// The `(` that a token stands in.
    #[must_use]
    pub fn opening(&self, token: usize) -> Option<usize> {
        let mut depth = 0;
        for at in (0..token).rev() {
            match self.kind(at) {
                Some(Kind::Sign(b')')) => depth += 1,
                Some(Kind::Sign(b'(')) if depth == 0 => return Some(at),
                Some(Kind::Sign(b'(')) => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// Whether a token stands between the parentheses of a call of this function, and in no others.
    #[must_use]
    pub fn is_of_call(&self, at: usize, function: &str) -> bool {
        self.opening(at).is_some_and(|open| self.is_word(self.before(open), function))
    }

    fn is_significant(&self, token: usize) -> bool {
        !matches!(self.kind(token), Some(Kind::Space | Kind::Comment { .. }) | None)
    }
}
