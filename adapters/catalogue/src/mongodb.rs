//! The commands of MongoDB: which may be run, with which fields, which of them only read, and where a value may stand.
//!
//! A document is judged before it is stored in a bundle, and again before it is sent. A part of it that MongoDB takes as a name, a stage or an
//! operator must be the author's. Where MongoDB evaluates what it finds (in a projection, or in most stages of a pipeline), a text such as
//! `$password` is not a text but the field of that name; [`Role::Expression`] says so of a value there.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

mod stages;
mod tables;
mod walk;

use tables::COMMANDS;
use walk::Walk;

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
    /// Any other value of the author's.
    Other,
    /// A value that only the call knows.
    Value,
    /// Members in order.
    Members(&'a [(String, T)]),
    /// Elements in order.
    List(&'a [T]),
}

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
    /// Where values of a call stand: the way to each, as the places of members and elements from the top.
    pub values: Vec<(Vec<usize>, Role)>,
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

/// What an adapter's `allow` may name besides stages that are not known: what runs code, and what writes.
pub const ALLOWABLE: [&str; 5] = ["$accumulator", "$function", "$where", "$merge", "$out"];
/// What no adapter can allow, and why.
pub const NEVER: [(&str, &str); 1] = [("$changeStream", "waits for changes that may never come")];

/// Whether `allow` of an adapter, names between commas, has a name.
#[must_use]
pub fn allows(allow: &str, name: &str) -> bool {
    allow.split(',').any(|allowed| allowed.trim() == name)
}

/// Whether an adapter may allow a name at all, and has to where it is used.
///
/// # Errors
/// Why not.
pub fn may_be_allowed(name: &str) -> Result<(), String> {
    if let Some((_, why)) = NEVER.iter().find(|(never, _)| *never == name) {
        return Err(format!("`{name}` cannot be allowed: it {why}"));
    }
    if stages::is_known(name) && !ALLOWABLE.contains(&name) {
        return Err(format!("the stage `{name}` needs no permission"));
    }
    let rest = name.strip_prefix('$').unwrap_or_default();
    if rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("`{name}` is not the name of a stage or an operator"));
    }
    Ok(())
}

/// Judges a document. `allow` is the adapter's option of that name.
///
/// # Errors
/// Every flaw, in the order of the document.
pub fn judge<T: Tree>(document: &[(String, T)], allow: &str) -> Result<Judged, Vec<Flaw>> {
    let Some((name, collection)) = document.first() else {
        return Err(alloc::vec![flaw(&[], "the document is empty", "write a command, such as `find: users`")]);
    };
    let Some(command) = COMMANDS.iter().find(|command| command.kind.name() == name) else {
        let names = COMMANDS.iter().map(|command| format!("`{}`", command.kind.name())).collect::<Vec<_>>().join(", ");
        let help = format!("the first key is the command, and its value the collection, as in `find: users`; the commands are {names}");
        return Err(alloc::vec![flaw(&[0], &format!("`{name}` is not a command that a tool can run"), &help)]);
    };
    let mut walk = Walk::new(allow);
    walk.at(0, |walk| walk.collection(collection));
    for (place, (key, node)) in document.iter().enumerate().skip(1) {
        walk.at(place, |walk| match command.fields.iter().find(|field| field.name == key) {
            Some(field) => walk.content(node, field.content),
            None => {
                let known = command.fields.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
                walk.flaw(format!("`{name}` has no field `{key}`"), format!("its fields are {known}"));
            }
        });
    }
    for field in command.fields.iter().filter(|field| field.is_required) {
        if document.iter().all(|(key, _)| key != field.name) {
            walk.at(0, |walk| walk.flaw(format!("`{name}` needs `{}`", field.name), format!("write `{}` below it", field.name)));
        }
    }
    let Walk { flaws, values, writes, upserts, .. } = walk;
    if flaws.is_empty() {
        let reads = command.reads && !writes;
        Ok(Judged { kind: command.kind, reads, upserts, values })
    } else {
        Err(flaws)
    }
}

fn flaw(path: &[usize], message: &str, help: &str) -> Flaw {
    Flaw { path: path.to_vec(), message: message.to_owned(), help: help.to_owned() }
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

#[cfg(test)]
mod tests;
