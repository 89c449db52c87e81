//! What there is in a statement, for those who judge it.

use std::{collections::BTreeSet, ops::Range};

use sqlparser::ast::{Ident, ObjectName};

use super::{
    condition::{Condition, Equality, Operand},
    names::{Named, at, last},
};
use crate::statement::shown::Location;

/// The names of the columns of a result; `None` where they are not all known.
pub(super) type Output = Option<BTreeSet<String>>;

/// What is known of a statement.
pub(in crate::statement) struct ResolvedStatement {
    /// What there is in it, the outer before the inner.
    pub(in crate::statement) facts: Vec<Fact>,
    /// Each table and each query of the parser's tree is among the facts.
    pub(in crate::statement) is_whole: bool,
}

/// One thing that a statement has or does.
pub(in crate::statement) enum Fact {
    /// Something that was not understood, as a clause, or that one of the readers cannot judge.
    Doubt { concerns: Concerns, at: Option<Location>, why: String },
    /// Why more of a table is counted than the statement seems to use, as a sentence.
    Wider(String),
    /// A name that `WITH` gives to a query.
    Part(Ident),
    /// A name in the place of a table.
    Mention(Mention),
    /// Tables that the statement does not name can be read, or written.
    Unnamed { reads: bool, writes: bool },
    /// Each table that the statement names can be written.
    WritesNamed,
    /// Columns of a table.
    Columns(ColumnUse),
    /// A function that is called.
    Call(Call),
    /// A procedure that is called.
    Procedure(ObjectName),
    /// What ClickHouse grants for no table: the right, and what it is on.
    Server(&'static str, &'static str),
    /// What is in `FROM` of one query, or what one statement writes, and the conditions on its
    /// rows.
    Block(Block),
    /// Rows that are inserted.
    Insert(Insert),
    /// Columns of a table that are set.
    Assign(Assign),
    /// Rows of a table that are changed because none of the source matches them.
    NotMatchedBySource(Source),
    /// Rows of something in `FROM` that are locked.
    Lock(Source),
}

/// Whom a doubt concerns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::statement) enum Concerns {
    /// Whoever reads the facts.
    Everyone,
    /// Who asks for rights.
    Rights,
    /// Who judges whether the statement keeps to a tenant.
    Tenant,
}

/// A name in the place of a table.
#[derive(Clone, Debug)]
pub(in crate::statement) struct Mention {
    pub(in crate::statement) name: ObjectName,
    pub(in crate::statement) kind: MentionKind,
    pub(in crate::statement) role: Role,
}

impl Mention {
    /// Where it stands.
    pub(in crate::statement) fn at(&self) -> Option<Location> {
        last(&self.name).and_then(at)
    }
}

/// What a name in the place of a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::statement) enum MentionKind {
    /// A table or a view.
    Table,
    /// A query that `WITH` names.
    Part,
    /// A function; in SQLite it can be a virtual table.
    Function,
}

/// What becomes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::statement) enum Role {
    /// It is read.
    Read,
    /// It is written, and what `WITH` names is not meant.
    Written,
    /// It is the first of several that are joined to be written.
    Joined,
}

/// How columns of a table are used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::statement) enum Use {
    Read,
    Update,
    Delete,
    Truncate,
    /// In another way, for which ClickHouse has a right of its own.
    Other(&'static str),
}

/// Columns of a table that are used.
pub(in crate::statement) struct ColumnUse {
    pub(in crate::statement) table: Named,
    pub(in crate::statement) usage: Use,
    pub(in crate::statement) columns: UsedColumns,
    /// An `INSERT` returns them.
    pub(in crate::statement) is_returned: bool,
}

/// Which columns of a table.
#[derive(Clone)]
pub(in crate::statement) enum UsedColumns {
    All,
    /// One of whatever name is enough.
    Any,
    Named(String),
}

/// A function that is called.
pub(in crate::statement) struct Call {
    pub(in crate::statement) name: ObjectName,
    /// Its first argument, where it is a text.
    pub(in crate::statement) first_text: Option<String>,
    /// What it uses is among the facts, as far as rights go.
    pub(in crate::statement) is_told: bool,
}

/// Something in `FROM`, or the target of a statement that writes.
#[derive(Clone, Debug)]
pub(in crate::statement) struct Source {
    /// The name that conditions know it by; empty where none does.
    pub(in crate::statement) name: String,
    /// The same as the author writes it.
    pub(in crate::statement) shown: String,
    /// The table or function; `None` for a query.
    pub(in crate::statement) mention: Option<Mention>,
    /// Where a condition has to stand to restrict its rows.
    pub(in crate::statement) restricted_in: Clause,
    /// The alias that gives other names to its columns.
    pub(in crate::statement) renamed: Option<Ident>,
    /// The table, as columns are looked for in it; `None` for a query, a function, and what
    /// everybody may read.
    pub(in crate::statement) table: Option<Named>,
    /// Its columns; `None` where they are not all known.
    pub(super) columns: Output,
}

impl Source {
    /// What is no table.
    pub(super) fn other(name: String, columns: Output) -> Self {
        Self { name, shown: String::new(), mention: None, restricted_in: Clause::Where, renamed: None, table: None, columns }
    }
}

/// A place for a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::statement) enum Clause {
    Where,
    On,
    /// A query in place of the table.
    Inside,
}

/// What is in `FROM` of one query, or what one statement writes.
#[derive(Default)]
pub(in crate::statement) struct Block {
    pub(in crate::statement) sources: Vec<Source>,
    pub(in crate::statement) conditions: Vec<Condition>,
    pub(in crate::statement) usings: Vec<Using>,
    pub(in crate::statement) shape: Shape,
}

/// What else decides how many rows of its sources a query needs.
#[derive(Default)]
pub(in crate::statement) struct Shape {
    /// It has a `WHERE`.
    pub(in crate::statement) has_where: bool,
    /// It has a `LIMIT`.
    pub(in crate::statement) has_limit: bool,
    /// Its first row needs all of them: it groups, counts or makes rows distinct.
    pub(in crate::statement) collects: bool,
    /// What its rows are ordered by, as far as these are columns.
    pub(in crate::statement) order: Vec<Operand>,
}

/// `USING` of a join.
pub(in crate::statement) struct Using {
    pub(in crate::statement) columns: Vec<Ident>,
    /// The sources on either side.
    pub(in crate::statement) left: Range<usize>,
    pub(in crate::statement) right: Range<usize>,
    /// Rows of the left side come out without a match.
    pub(in crate::statement) is_left: bool,
    /// Rows of both sides need a match.
    pub(in crate::statement) is_inner: bool,
}

/// Rows that are inserted.
pub(in crate::statement) struct Insert {
    pub(in crate::statement) target: Source,
    /// The columns that the statement lists, in order.
    pub(in crate::statement) columns: Vec<ObjectName>,
    /// The names of the columns that get values.
    pub(in crate::statement) filled: BTreeSet<String>,
    /// `None` where each column has its default.
    pub(in crate::statement) rows: Option<Vec<Row>>,
    /// A row has `DEFAULT` in the place of a value.
    pub(in crate::statement) has_defaults: bool,
    /// `REPLACE`
    pub(in crate::statement) is_replace: bool,
    /// A row that is in the way is deleted.
    pub(in crate::statement) replaces: bool,
    pub(in crate::statement) on_conflict: OnConflict,
    pub(in crate::statement) is_returning: bool,
}

/// A row, or those of a query, that are inserted.
pub(in crate::statement) struct Row {
    /// The values, where they can be told one by one.
    pub(in crate::statement) values: Option<Vec<Operand>>,
    /// Where it begins, if it is written out.
    pub(in crate::statement) at: Option<Location>,
}

/// What becomes of a row that is in the way of a new one.
pub(in crate::statement) enum OnConflict {
    /// It stays.
    Nothing,
    /// It is changed.
    Update(ConflictUpdate),
    /// `ON DUPLICATE KEY UPDATE`
    DuplicateKey,
}

/// `ON CONFLICT … DO UPDATE`
pub(in crate::statement) struct ConflictUpdate {
    /// The columns of the conflict, if they are named.
    pub(in crate::statement) columns: Vec<Ident>,
    pub(in crate::statement) assignments: Vec<Assigned>,
    pub(in crate::statement) conditions: Vec<Equality>,
}

/// Columns of a table that are set.
pub(in crate::statement) struct Assign {
    pub(in crate::statement) target: Source,
    pub(in crate::statement) assignments: Vec<Assigned>,
    /// A row that is in the way is deleted.
    pub(in crate::statement) replaces: bool,
}

/// What is set.
pub(in crate::statement) struct Assigned {
    /// One column, or several that are set together.
    pub(in crate::statement) columns: Vec<ObjectName>,
    pub(in crate::statement) value: Operand,
}
