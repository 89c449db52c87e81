use super::{
    lex::{Kind, Token},
    masked::MaskedStatement,
};

/// The tokens of a statement, with the questions that the rules ask of them. Neighbours skip space and comments.
pub(super) struct Tokens<'a> {
    pub(super) masked: &'a MaskedStatement<'a>,
    pub(super) all: Vec<Token>,
}

impl<'a> Tokens<'a> {
    pub(super) fn before(&self, token: usize) -> Option<usize> {
        (0..token).rev().find(|&at| self.is_significant(at))
    }

    pub(super) fn after(&self, token: usize) -> Option<usize> {
        (token + 1..self.all.len()).find(|&at| self.is_significant(at))
    }

    pub(super) fn significant(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.all.len()).filter(|&at| self.is_significant(at))
    }

    pub(super) fn text(&self, token: usize) -> &'a str {
        &self.masked.text[self.all[token].range.clone()]
    }

    /// The text of a keyword or an unquoted name.
    pub(super) fn word(&self, token: Option<usize>) -> Option<&'a str> {
        token.filter(|&token| self.all[token].kind == Kind::Word).map(|token| self.text(token))
    }

    pub(super) fn is_word(&self, token: Option<usize>, word: &str) -> bool {
        self.word(token).is_some_and(|found| found.eq_ignore_ascii_case(word))
    }

    pub(super) fn is_any_word(&self, token: Option<usize>, words: &[&str]) -> bool {
        self.word(token).is_some_and(|found| words.iter().any(|word| found.eq_ignore_ascii_case(word)))
    }

    pub(super) fn is_sign(&self, token: Option<usize>, sign: u8) -> bool {
        token.is_some_and(|token| self.all[token].kind == Kind::Sign(sign))
    }

    /// Whether a token has a placeholder in it.
    pub(super) fn has_marks(&self, token: usize) -> bool {
        !self.masked.marks_in(&self.all[token].range).is_empty()
    }

    /// The `(` that a token stands in.
    pub(super) fn opening(&self, token: usize) -> Option<usize> {
        let mut depth = 0;
        for at in (0..token).rev() {
            match self.all[at].kind {
                Kind::Sign(b')') => depth += 1,
                Kind::Sign(b'(') if depth == 0 => return Some(at),
                Kind::Sign(b'(') => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn is_significant(&self, token: usize) -> bool {
        !matches!(self.all[token].kind, Kind::Space | Kind::Comment { .. })
    }
}
