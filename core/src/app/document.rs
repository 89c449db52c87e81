use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::Literal;

/// A part of a document, as its author wrote it, with places for values. Keys are the author's
/// alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DocumentNode {
    /// The author's value: neither a list nor an object.
    Literal(Literal),
    /// A value of the call.
    Place {
        /// Index into [`Statement::parts`](super::Statement::parts).
        part: u32,
        /// What the value can be.
        leaf: Leaf,
    },
    /// Members in order.
    Members(Vec<(String, Self)>),
    /// Elements in order.
    List(Vec<Self>),
}

/// What a value of the call can be in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leaf {
    /// Anything without operators.
    Any,
    /// The same, and it is written to the database: the keys of an object in it become names of
    /// fields.
    Stored,
    /// Neither an object nor a list.
    Scalar,
    /// The same, or a list of such values.
    Scalars,
    /// Neither an object nor a list: a part of the URL of a request. No value of a request has a
    /// NUL character.
    Parameter,
    /// The same, or a list of such values.
    Parameters,
    /// The same, or an object.
    Elements,
    /// A part of the body of a request.
    Body,
    /// An object, or a list of objects: the rows of a request.
    Rows,
    /// A whole segment of the path of a request of HTTP: neither an object nor a list, and always
    /// there.
    Segment,
    /// A part of a segment: the same, and it may be empty.
    SegmentPart,
    /// A field of the query or of the form of a request of HTTP: neither an object nor a list, or a
    /// list of such values. Without a value there is no field.
    Field,
    /// A header field of a request of HTTP: neither an object nor a list, in visible ASCII. Without
    /// a value there is no field.
    HeaderField,
    /// A node of the JSON body of a request of HTTP: anything. A member without a value is left
    /// out.
    Json,
}

impl Leaf {
    /// Whether it is a value of a request for PostgREST.
    #[must_use]
    pub const fn is_of_postgrest(self) -> bool {
        matches!(self, Self::Parameter | Self::Parameters | Self::Elements | Self::Body | Self::Rows)
    }

    /// Whether it is a value of a request of HTTP.
    #[must_use]
    pub const fn is_of_http(self) -> bool {
        matches!(self, Self::Segment | Self::SegmentPart | Self::Field | Self::HeaderField | Self::Json)
    }
}
