//! What the judge says of a document.

use alloc::{string::String, vec::Vec};

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `find`
    Find,
    /// `aggregate`
    Aggregate,
    /// `count`
    Count,
    /// `distinct`
    Distinct,
    /// `insert`
    Insert,
    /// `update`
    Update,
    /// `delete`
    Delete,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Aggregate => "aggregate",
            Self::Count => "count",
            Self::Distinct => "distinct",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// What may stand where a value of a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// MongoDB takes it as it is.
    Plain,
    /// It is written to the database: keys of an object in it name fields.
    Stored,
    /// MongoDB would evaluate it: it has to be in `$literal`.
    Expression,
    /// The same, and what comes of it is written to the database.
    StoredExpression,
    /// It can be a number alone, which is the same evaluated or not.
    Number,
    /// It can be neither an object nor a list: keys of an object would say what MongoDB does.
    Scalar,
    /// It can also be a list of such values.
    Scalars,
}

/// A document that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The command.
    pub kind: Kind,
    /// Whether it changes nothing.
    pub reads: bool,
    /// Whether it may insert what it does not find.
    pub upserts: bool,
    /// Where values of a call stand: the way to each, as the places of members and elements from
    /// the top.
    pub values: Vec<(Vec<usize>, Role)>,
}

/// What an adapter's `allow` may name besides stages that are not known: what runs code, and what
/// writes.
pub const ALLOWABLE: [&str; 5] = ["$accumulator", "$function", "$where", "$merge", "$out"];
/// What no adapter can allow, and why.
pub const NEVER: [(&str, &str); 1] = [("$changeStream", "waits for changes that may never come")];

/// Whether `allow` of an adapter, names between commas, has a name.
#[must_use]
pub fn allows(allow: &str, name: &str) -> bool {
    allow.split(',').any(|allowed| allowed.trim() == name)
}

/// The keys by which an object of one member is a value of its own, in
/// [Extended JSON](https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/).
pub const WRAPPERS: [&str; 12] = [
    "$binary",
    "$date",
    "$maxKey",
    "$minKey",
    "$numberDecimal",
    "$numberDouble",
    "$numberInt",
    "$numberLong",
    "$oid",
    "$regularExpression",
    "$timestamp",
    "$uuid",
];

/// Whether members are a value of Extended JSON.
pub fn is_wrapper<T>(members: &[(String, T)]) -> bool {
    matches!(members, [(key, _)] if WRAPPERS.contains(&key.as_str()))
}

/// What a part of a document is to MongoDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// Conditions: texts are texts, but for what `$expr` holds.
    Query,
    /// Values.
    Plain,
    /// Values that are written to the database.
    Stored,
    /// Expressions: a text that begins with `$` is a field or a variable.
    Expression,
    /// Numbers, where an expression can be, and a `$literal` cannot.
    Numbers,
    /// Values whose keys say what MongoDB does: an order, a bound of an index.
    Scalar,
    /// The operators of a search, whose keys say what is looked for.
    Search,
    /// The values of a list of numbers.
    Scalars,
    /// Names and settings, which the author writes out.
    Written,
}
