use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::Literal;

/// A part of a document, as its author wrote it, with places for values. Keys are the author's alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DocumentNode {
    /// The author's value: neither a list nor an object.
    Literal(Literal),
    /// A value of the call.
    Place {
        /// Index into [`Statement::parts`](super::Statement::parts).
        part: u32,
        /// Whether it is written to the database: the keys of an object in it become names of fields then.
        is_stored: bool,
    },
    /// Members in order.
    Members(Vec<(String, Self)>),
    /// Elements in order.
    List(Vec<Self>),
}
