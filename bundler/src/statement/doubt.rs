//! Statements that may only read, and that the build cannot tell of: what is said of them.

use super::{dialect::Dialect, problem::warning, tokens::Tokens, words::Words};
use crate::Problem;

/// Why a statement is taken for one that writes, although it may only read.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// What to say, unless something else decides.
    pub warning: Problem,
    /// The database refuses a write where it is told that the statement only reads: then its
    /// author's word, `kind: query`, decides.
    pub is_settled_by_kind: bool,
}

/// Says what is not known of a statement.
pub(super) struct Doubts<'a> {
    pub(super) tokens: &'a Tokens<'a>,
    pub(super) dialect: Dialect,
}

impl Doubts<'_> {
    /// The parser does not understand the statement.
    pub(super) fn of_statement(&self, words: &Words, reason: &str) -> Doubt {
        let message = format!(
            "the statement could not be checked as {}, so it is taken for one that writes: {}",
            self.dialect.facts().name,
            reason.trim_start_matches("sql parser error: ")
        );
        self.doubt(words, self.whole(), message)
    }

    /// The parser understands it as one that reads, and has a word in it for a name. `None`: it
    /// surely has an effect.
    pub(super) fn of_word(&self, words: &Words) -> Option<Doubt> {
        let word = words.writes.filter(|_| words.may_be_declared())?;
        let text = self.tokens.text(word);
        let message = format!("the statement is taken for one that writes because of the word `{text}`");
        let mut doubt = self.doubt(words, self.tokens.all[word].range.clone(), message);
        let quote = self.dialect.facts().advised_quote;
        doubt.warning.help = doubt.warning.help.map(|help| format!("if it is a name, write it in quotes, {quote}{text}{quote}; {help}"));
        Some(doubt)
    }

    /// The values of a statement that the parser does not understand. `is_known`: its words tell
    /// whether it reads.
    pub(super) fn unchecked(&self, reason: &str, is_known: bool) -> Problem {
        let message = format!(
            "the statement could not be checked as {}: {}",
            self.dialect.facts().name,
            reason.trim_start_matches("sql parser error: ")
        );
        let help = if is_known {
            "its values are bound all the same; try it against the database"
        } else {
            "its values are bound all the same, and it counts as one that writes; try it against the database"
        };
        warning(self.tokens.masked.place(self.whole()), message, help)
    }

    fn doubt(&self, words: &Words, at: std::ops::Range<usize>, message: String) -> Doubt {
        let is_settled_by_kind = self.dialect.facts().style.is_held_to_reading() && words.may_be_declared();
        let help = if is_settled_by_kind {
            "its result is not cached, and clients ask before they call the tool; if it only reads, write `kind: query` in the tool's file: the \
             database then refuses it if it writes"
        } else {
            "its result is not cached, and clients ask before they call the tool; if it only reads, write it in another way"
        };
        Doubt { warning: warning(self.tokens.masked.place(at), message, help), is_settled_by_kind }
    }

    fn whole(&self) -> std::ops::Range<usize> {
        let all = &self.tokens.all;
        all.first().map_or(0, |token| token.range.start)..all.last().map_or(0, |token| token.range.end)
    }
}
