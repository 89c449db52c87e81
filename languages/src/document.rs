//! A document as its judge sees it, whatever connector it is for.

use alloc::{string::String, vec::Vec};

/// A part of a document, whoever holds it.
pub trait Tree: Sized {
    /// What it is.
    fn view(&self) -> View<'_, Self>;
}

/// What a part of a document is.
#[derive(Debug)]
pub enum View<'a, T> {
    /// The author's text.
    Text(&'a str),
    /// The author's truth value.
    Bool(bool),
    /// The author's whole number.
    Integer(i64),
    /// The author's null.
    Null,
    /// Any other value of the author's.
    Other,
    /// A value that only the call knows.
    Value,
    /// Members in order.
    Members(&'a [(String, T)]),
    /// Elements in order.
    List(&'a [T]),
}

/// Why a document may not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The way to it, as the places of members and elements from the top.
    pub path: Vec<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}
