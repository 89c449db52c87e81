//! What a request can be, and its fields.

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `from`: reads rows.
    From,
    /// `count`: counts rows.
    Count,
    /// `insert`
    Insert,
    /// `upsert`: inserts, or changes what is there.
    Upsert,
    /// `update`
    Update,
    /// `delete`
    Delete,
    /// `rpc`: calls a function.
    Rpc,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Select,
    Where,
    Order,
    Number,
    Flag,
    Columns,
    Rows,
    Set,
    Arguments,
}

/// A field of a request.
#[derive(Debug)]
pub(super) struct FieldRow {
    pub(super) name: &'static str,
    pub(super) content: Content,
    pub(super) is_required: bool,
}

const fn field(name: &'static str, content: Content) -> FieldRow {
    FieldRow { name, content, is_required: false }
}

const fn required(name: &'static str, content: Content) -> FieldRow {
    FieldRow { name, content, is_required: true }
}

const FROM: &[FieldRow] = &[
    field("select", Content::Select),
    field("where", Content::Where),
    field("order", Content::Order),
    field("limit", Content::Number),
    field("offset", Content::Number),
    field("single", Content::Flag),
];
const COUNT: &[FieldRow] = &[field("where", Content::Where)];
const INSERT: &[FieldRow] = &[
    required("rows", Content::Rows),
    field("columns", Content::Columns),
    field("returning", Content::Select),
    field("single", Content::Flag),
];
const UPSERT: &[FieldRow] = &[
    required("rows", Content::Rows),
    field("columns", Content::Columns),
    field("on_conflict", Content::Columns),
    field("ignore_duplicates", Content::Flag),
    field("returning", Content::Select),
    field("single", Content::Flag),
];
const UPDATE: &[FieldRow] = &[
    required("set", Content::Set),
    required("where", Content::Where),
    field("columns", Content::Columns),
    field("returning", Content::Select),
    field("single", Content::Flag),
];
const DELETE: &[FieldRow] = &[required("where", Content::Where), field("returning", Content::Select), field("single", Content::Flag)];
const RPC: &[FieldRow] = &[
    field("arguments", Content::Arguments),
    field("get", Content::Flag),
    field("select", Content::Select),
    field("where", Content::Where),
    field("order", Content::Order),
    field("limit", Content::Number),
    field("offset", Content::Number),
    field("single", Content::Flag),
];

impl Verb {
    /// All of them.
    pub(super) const ALL: [Self; 7] = [Self::From, Self::Count, Self::Insert, Self::Upsert, Self::Update, Self::Delete, Self::Rpc];

    /// The first key of its request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::From => "from",
            Self::Count => "count",
            Self::Insert => "insert",
            Self::Upsert => "upsert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Rpc => "rpc",
        }
    }

    pub(super) const fn fields(self) -> &'static [FieldRow] {
        match self {
            Self::From => FROM,
            Self::Count => COUNT,
            Self::Insert => INSERT,
            Self::Upsert => UPSERT,
            Self::Update => UPDATE,
            Self::Delete => DELETE,
            Self::Rpc => RPC,
        }
    }
}
