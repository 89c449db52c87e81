//! The commands and their fields.

use super::document::Kind;

/// A command.
#[derive(Debug)]
pub(crate) struct CommandRow {
    pub(crate) kind: Kind,
    pub(crate) reads: bool,
    pub(crate) fields: &'static [FieldRow],
}

/// A field of a command, or of an element of one.
#[derive(Debug)]
pub(crate) struct FieldRow {
    pub(crate) name: &'static str,
    pub(crate) content: Content,
    pub(crate) is_required: bool,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The conditions that documents meet.
    Query,
    /// A number.
    Number,
    /// Fields, and a value without keys for each.
    Fields,
    /// What the author writes out.
    Written,
    /// `true` or `false`, written out.
    Flag,
    /// The same; whether documents that are not found are inserted.
    Upsert,
    /// 0 or 1, written out.
    ZeroOrOne,
    /// Variables, whose values MongoDB evaluates.
    Variables,
    /// The stages of a pipeline.
    Pipeline,
    /// Documents to store.
    Documents,
    /// What changes in a document, a document in its place, or a pipeline.
    Change,
    /// The conditions on elements of arrays.
    Queries,
    /// The elements of `updates`.
    Updates,
    /// The elements of `deletes`.
    Deletes,
    /// How many documents a batch has, which the driver decides.
    Cursor,
}

use Content::{
    Change, Cursor, Deletes, Documents, Fields, Flag, Number, Pipeline, Queries, Query, Updates, Upsert, Variables, Written, ZeroOrOne,
};

const fn field(name: &'static str, content: Content) -> FieldRow {
    FieldRow { name, content, is_required: false }
}

const fn required(name: &'static str, content: Content) -> FieldRow {
    FieldRow { name, content, is_required: true }
}

/// Every command that a tool can run.
pub(crate) static COMMANDS: &[CommandRow] = &[
    CommandRow {
        kind: Kind::Find,
        reads: true,
        fields: &[
            field("filter", Query),
            field("projection", Written),
            field("sort", Fields),
            field("skip", Number),
            field("limit", Number),
            field("hint", Written),
            field("min", Fields),
            field("max", Fields),
            field("collation", Written),
            field("let", Variables),
            field("allowDiskUse", Flag),
            field("comment", Written),
        ],
    },
    CommandRow {
        kind: Kind::Aggregate,
        reads: true,
        fields: &[
            required("pipeline", Pipeline),
            field("cursor", Cursor),
            field("hint", Written),
            field("collation", Written),
            field("let", Variables),
            field("allowDiskUse", Flag),
            field("comment", Written),
        ],
    },
    CommandRow {
        kind: Kind::Count,
        reads: true,
        fields: &[
            field("query", Query),
            field("skip", Number),
            field("limit", Number),
            field("hint", Written),
            field("collation", Written),
            field("comment", Written),
        ],
    },
    CommandRow {
        kind: Kind::Distinct,
        reads: true,
        fields: &[required("key", Written), field("query", Query), field("collation", Written), field("comment", Written)],
    },
    CommandRow {
        kind: Kind::Insert,
        reads: false,
        fields: &[required("documents", Documents), field("ordered", Flag), field("comment", Written)],
    },
    CommandRow {
        kind: Kind::Update,
        reads: false,
        fields: &[required("updates", Updates), field("ordered", Flag), field("let", Variables), field("comment", Written)],
    },
    CommandRow {
        kind: Kind::Delete,
        reads: false,
        fields: &[required("deletes", Deletes), field("ordered", Flag), field("let", Variables), field("comment", Written)],
    },
];

/// The fields of an element of `updates`.
pub(crate) static UPDATE: &[FieldRow] = &[
    required("q", Query),
    required("u", Change),
    field("multi", Flag),
    field("upsert", Upsert),
    field("arrayFilters", Queries),
    field("collation", Written),
    field("hint", Written),
];

/// The fields of an element of `deletes`.
pub(crate) static DELETE: &[FieldRow] =
    &[required("q", Query), required("limit", ZeroOrOne), field("collation", Written), field("hint", Written)];
