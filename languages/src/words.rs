//! Lists of words, and what the words of a statement say in every language.

use crate::{lex::Kind, tokens::Tokens};

/// Words, a line each, in capital letters.
#[derive(Clone, Copy, Debug)]
pub struct Words(&'static str);

/// Words that no statement has that only reads, apart from names. A database that is told that a
/// statement only reads refuses what they do.
pub const WRITES: Words = Words::of(include_str!("words/writes.txt"));
/// Functions whose effect outlives a statement, or that work in a transaction that only reads, too.
/// Some run a text as a statement.
const ACTS: Words = Words::of(include_str!("words/acts.txt"));
/// How the names of more such functions begin.
const FAMILIES: Words = Words::of(include_str!("words/families.txt"));
/// The words that begin what may only read.
pub const ASKS: Words = Words::of(include_str!("words/asks.txt"));
/// The words that begin what surely does more, so that nothing needs to be said of it.
pub const COMMANDS: Words = Words::of(include_str!("words/commands.txt"));
/// Words that SQLite or PostgreSQL does not take as the name of a table or column everywhere.
pub(crate) const RESERVED: Words = Words::of(include_str!("words/reserved.txt"));

impl Words {
    /// The words of a file, a line each.
    #[must_use]
    pub const fn of(lines: &'static str) -> Self {
        Self(lines)
    }

    /// Them, in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.lines()
    }

    /// Whether a word is one of them, in any case.
    #[must_use]
    pub fn has(self, word: &str) -> bool {
        self.find(word).is_some()
    }

    /// The one that a word is, in any case.
    #[must_use]
    pub fn find(self, word: &str) -> Option<&'static str> {
        self.iter().find(|known| known.eq_ignore_ascii_case(word))
    }

    /// Whether a word begins with one of them, in any case.
    #[must_use]
    pub fn begin(self, word: &str) -> bool {
        self.iter().any(|start| word.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)))
    }
}

impl Tokens<'_> {
    /// Whether a token is a word of a statement that writes.
    #[must_use]
    pub fn writes(&self, token: usize) -> bool {
        // `replace(…)` and `insert(…)` are functions, and what follows a dot is a name.
        let called = self.is_sign(self.after(token), b'(') && self.is_any_word(Some(token), &["REPLACE", "INSERT"]);
        self.word(Some(token)).is_some_and(|word| WRITES.has(word)) && !called && !self.is_sign(self.before(token), b'.')
    }

    /// Whether a token is the name of a function whose effect nothing can forbid.
    #[must_use]
    pub fn acts(&self, token: usize) -> bool {
        let called = self.is_sign(self.after(token), b'(');
        if self.word(Some(token)).is_some_and(|word| ACTS.has(word) || called && FAMILIES.begin(word)) {
            return true;
        }
        // A function's name may stand in quotes, and PostgreSQL has names with escapes.
        let text = self.text(token);
        let name = text.trim_matches(['`', '"', '[', ']']);
        let is_escaped = text.starts_with(['u', 'U']);
        called && self.kind(token) == Some(&Kind::Quoted) && (is_escaped || FAMILIES.begin(name) || ACTS.has(name))
    }
}
