//! Something that can be written at a cursor.

use std::ops::Range;

/// What can be written at a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The first of them.
    pub items: Vec<Completion>,
    /// Whether these are all; else there are more, of which only those that fit the word at the
    /// cursor are here.
    pub is_whole: bool,
}

/// Something that can be written at a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What it is called.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// A few words about it; may be empty.
    pub detail: String,
    /// What it means, as Markdown; may be empty.
    pub doc: String,
    /// The text to write.
    pub insert: String,
    /// The bytes that it replaces.
    pub replace: Range<usize>,
}

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A key of a file.
    Key,
    /// One of the values that a key takes.
    Value,
    /// Something that the app defines.
    Name,
    /// A file.
    File,
    /// An input, a variable or a column.
    Variable,
    /// A word or a function of expressions.
    Word,
}
