//! What the words of a statement say of its effects. The parser alone is not asked: it may know
//! less than the database.

use millrace_languages::{
    lex::Kind,
    words::{ASKS, COMMANDS, WRITES},
};

use super::{
    dialect::Dialect,
    lower::{Fragment, texts_of},
    tokens::Tokens,
};

/// What the words of a statement say.
pub(super) struct Words {
    /// The word that only a statement which writes has, unless it is a name.
    pub(super) writes: Option<usize>,
    /// The name of a function whose effect nothing can forbid.
    pub(super) acts: Option<usize>,
    /// It surely only reads, whatever is in it that the parser does not know.
    pub(super) surely_reads: bool,
    /// It begins like what reads.
    pub(super) asks: bool,
    /// It begins like what does more than read.
    pub(super) is_command: bool,
    /// A word of its beginning is one of several that a caller chooses from, or has a comment that
    /// is run.
    is_open: bool,
}

impl Words {
    /// Whether the words allow that the statement only reads.
    pub(super) const fn may_only_read(&self) -> bool {
        self.writes.is_none() && self.acts.is_none() && !self.is_open
    }

    /// Whether the words have no effect that a database cannot refuse.
    pub(super) const fn can_be_held_to_reading(&self) -> bool {
        self.acts.is_none() && !self.is_open
    }

    /// Whether the database can hold the statement to reading, where its author says that it does.
    pub(super) const fn may_be_declared(&self) -> bool {
        self.asks && self.can_be_held_to_reading()
    }
}

/// Looks at the words of a statement, which begins at the token `first`.
pub(super) fn look(tokens: &Tokens<'_>, first: usize, fragments: &[Fragment], dialect: Dialect) -> Words {
    // Of several keywords the parser has seen the first.
    let chosen = fragments.iter().any(|fragment| match fragment {
        Fragment::Choice { part, .. } => texts_of(part).iter().any(|text| text.split(' ').any(|word| WRITES.has(word))),
        _ => false,
    });
    let is_run = tokens.all.iter().any(|token| token.kind == Kind::Comment { executable: true });
    let opening = tokens.significant().find(|&token| token >= first && !tokens.is_sign(Some(token), b'('));
    let is_open = chosen || is_run;
    let facts = dialect.facts();
    Words {
        writes: tokens.significant().find(|&token| tokens.writes(token) && (facts.has_merge || !tokens.is_word(Some(token), "MERGE"))),
        acts: tokens.significant().find(|&token| tokens.acts(token)),
        surely_reads: !is_open && (facts.surely_reads)(tokens, first),
        asks: tokens.word(opening).is_some_and(|word| ASKS.has(word)),
        is_command: tokens.word(opening).is_some_and(|word| COMMANDS.has(word)),
        is_open,
    }
}
