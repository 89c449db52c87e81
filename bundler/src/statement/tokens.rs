use std::ops::{Deref, DerefMut};

use millrace_languages::{lex::Token, tokens};

use super::masked::MaskedStatement;

/// The tokens of a statement, and the author's text behind them.
pub(super) struct Tokens<'a> {
    pub(super) masked: &'a MaskedStatement<'a>,
    own: tokens::Tokens<'a>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(masked: &'a MaskedStatement<'a>, all: Vec<Token>) -> Self {
        Self { masked, own: tokens::Tokens { text: &masked.text, all } }
    }

    /// Whether a token has a placeholder in it.
    pub(super) fn has_marks(&self, token: usize) -> bool {
        !self.masked.marks_in(&self.all[token].range).is_empty()
    }
}

impl<'a> Deref for Tokens<'a> {
    type Target = tokens::Tokens<'a>;

    fn deref(&self) -> &Self::Target {
        &self.own
    }
}

impl DerefMut for Tokens<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.own
    }
}
