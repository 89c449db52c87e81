//! What the judge says of a request.

use alloc::{string::String, vec::Vec};

use super::fields::Verb;

/// What may stand where a value of a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A value of a condition, or an argument in a URL: neither an object nor a list.
    Parameter,
    /// The same, or a list of such values.
    Parameters,
    /// The same, or an object.
    Elements,
    /// True, false or null.
    Truth,
    /// A whole number from 0.
    Number,
    /// A value in the body.
    Body,
    /// An object, or a list of objects, whose keys the request's `columns` restrict.
    Rows,
}

/// A request that may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What it does.
    pub verb: Verb,
    /// The table or the function.
    pub target: String,
    /// Whether it changes nothing.
    pub reads: bool,
    /// Whether it reads rows of other tables, too.
    pub has_related: bool,
    /// Where values of a call stand: the way to each, as the places of members and elements from
    /// the top.
    pub values: Vec<(Vec<usize>, Role)>,
}
