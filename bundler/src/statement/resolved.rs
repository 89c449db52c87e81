//! One parsed statement, resolved: what it names and where, which table each column is of, which conditions hold for which rows, what it
//! writes, and what of it was not understood.
//!
//! This is the one place that takes the parser's tree apart. Each form is taken apart by name, so that a new clause of a newer parser does
//! not compile instead of being passed over; and the tables and queries that were seen are counted against those that the tree has.
//! `tables`, `tenant` and `rights` read the facts that come of it, each by its own rules.

use std::ops::{ControlFlow, Range};

use sqlparser::{
    ast::{Expr, Ident, ObjectName, Query, Spanned as _, Statement as Sql, Visit as _, Visitor},
    tokenizer::Span,
};

use super::{Dialect, shown::Location};

mod clickhouse;
mod condition;
pub(super) mod dialect_facts;
mod expression;
mod from;
mod known;
mod names;
mod query;
mod scope;
mod write;

pub(super) use condition::{Condition, Equality, Operand, OperandKind};
pub use known::{Known, KnownTable};
pub use names::Named;
pub(super) use names::{UNKNOWN_NAME, fold, last, named, named_in, parsed};

use scope::Output;

/// Why a statement is not judged in which a table was passed over.
pub(super) const NOT_WHOLE: &str = "it has a table in a place that is not understood";
/// Why one with a clause is not that only some other database knows.
const CLAUSE: &str = "it has a clause that is not understood";

/// What is known of a statement.
pub(super) struct ResolvedStatement {
    /// What there is in it, the outer before the inner.
    pub(super) facts: Vec<Fact>,
    /// Each table and each query of the parser's tree is among the facts.
    pub(super) is_whole: bool,
}

/// One thing that a statement has or does.
pub(super) enum Fact {
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
    /// What is in `FROM` of one query, or what one statement writes, and the conditions on its rows.
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
pub(super) enum Concerns {
    /// Whoever reads the facts.
    Everyone,
    /// Who asks for rights.
    Rights,
    /// Who judges whether the statement keeps to a tenant.
    Tenant,
}

/// A name in the place of a table.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub(super) name: ObjectName,
    pub(super) kind: MentionKind,
    pub(super) role: Role,
}

impl Mention {
    /// Where it stands.
    pub(super) fn at(&self) -> Option<Location> {
        last(&self.name).and_then(at)
    }
}

/// What a name in the place of a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MentionKind {
    /// A table or a view.
    Table,
    /// A query that `WITH` names.
    Part,
    /// A function; in SQLite it can be a virtual table.
    Function,
}

/// What becomes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It is read.
    Read,
    /// It is written, and what `WITH` names is not meant.
    Written,
    /// It is the first of several that are joined to be written.
    Joined,
}

/// How columns of a table are used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Update,
    Delete,
    Truncate,
    /// In another way, for which ClickHouse has a right of its own.
    Other(&'static str),
}

/// Columns of a table that are used.
pub(super) struct ColumnUse {
    pub(super) table: Named,
    pub(super) usage: Use,
    pub(super) columns: UsedColumns,
    /// An `INSERT` returns them.
    pub(super) is_returned: bool,
}

/// Which columns of a table.
#[derive(Clone)]
pub(super) enum UsedColumns {
    All,
    /// One of whatever name is enough.
    Any,
    Named(String),
}

/// A function that is called.
pub(super) struct Call {
    pub(super) name: ObjectName,
    /// Its first argument, where it is a text.
    pub(super) first_text: Option<String>,
    /// What it uses is among the facts, as far as rights go.
    pub(super) is_told: bool,
}

/// Something in `FROM`, or the target of a statement that writes.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The name that conditions know it by; empty where none does.
    pub(super) name: String,
    /// The same as the author writes it.
    pub(super) shown: String,
    /// The table or function; `None` for a query.
    pub(super) mention: Option<Mention>,
    /// Where a condition has to stand to restrict its rows.
    pub(super) restricted_in: Clause,
    /// The alias that gives other names to its columns.
    pub(super) renamed: Option<Ident>,
    /// The table, as columns are looked for in it; `None` for a query, a function, and what everybody may read.
    pub(super) table: Option<Named>,
    /// Its columns; `None` where they are not all known.
    columns: Output,
}

impl Source {
    /// What is no table.
    fn other(name: String, columns: Output) -> Self {
        Self { name, shown: String::new(), mention: None, restricted_in: Clause::Where, renamed: None, table: None, columns }
    }
}

/// A place for a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    Where,
    On,
    /// A query in place of the table.
    Inside,
}

/// What is in `FROM` of one query, or what one statement writes.
#[derive(Default)]
pub(super) struct Block {
    pub(super) sources: Vec<Source>,
    pub(super) conditions: Vec<Condition>,
    pub(super) usings: Vec<Using>,
}

/// `USING` of a join.
pub(super) struct Using {
    pub(super) columns: Vec<Ident>,
    /// The sources on either side.
    pub(super) left: Range<usize>,
    pub(super) right: Range<usize>,
    /// Rows of the left side come out without a match.
    pub(super) is_left: bool,
    /// Rows of both sides need a match.
    pub(super) is_inner: bool,
}

/// Which sources a condition restricts, wherever their rows come out of the query.
#[derive(Clone)]
pub(super) enum Reach {
    /// `WHERE`: all.
    All,
    /// `ON` of an inner join: the sources that it joins.
    Inside(Range<usize>),
    /// `ON` of an outer join: the sources of the side whose rows need a match. What they are compared with is on either side.
    Into { into: Range<usize>, from: Range<usize> },
    /// `ON` of a full join: none.
    Nothing,
}

/// Rows that are inserted.
pub(super) struct Insert {
    pub(super) target: Source,
    /// The columns that the statement lists, in order.
    pub(super) columns: Vec<ObjectName>,
    /// The names of the columns that get values.
    pub(super) filled: std::collections::BTreeSet<String>,
    /// `None` where each column has its default.
    pub(super) rows: Option<Vec<Row>>,
    /// A row has `DEFAULT` in the place of a value.
    pub(super) has_defaults: bool,
    /// `REPLACE`
    pub(super) is_replace: bool,
    /// A row that is in the way is deleted.
    pub(super) replaces: bool,
    pub(super) on_conflict: OnConflict,
    pub(super) is_returning: bool,
}

/// A row, or those of a query, that are inserted.
pub(super) struct Row {
    /// The values, where they can be told one by one.
    pub(super) values: Option<Vec<Operand>>,
    /// Where it begins, if it is written out.
    pub(super) at: Option<Location>,
}

/// What becomes of a row that is in the way of a new one.
pub(super) enum OnConflict {
    /// It stays.
    Nothing,
    /// It is changed.
    Update(ConflictUpdate),
    /// `ON DUPLICATE KEY UPDATE`
    DuplicateKey,
}

/// `ON CONFLICT … DO UPDATE`
pub(super) struct ConflictUpdate {
    /// The columns of the conflict, if they are named.
    pub(super) columns: Vec<Ident>,
    pub(super) assignments: Vec<Assigned>,
    pub(super) conditions: Vec<Equality>,
}

/// Columns of a table that are set.
pub(super) struct Assign {
    pub(super) target: Source,
    pub(super) assignments: Vec<Assigned>,
    /// A row that is in the way is deleted.
    pub(super) replaces: bool,
}

/// What is set.
pub(super) struct Assigned {
    /// One column, or several that are set together.
    pub(super) columns: Vec<ObjectName>,
    pub(super) value: Operand,
}

/// Resolves a statement. `known` is what is known of the database; `is_mutation` says that it is an `ALTER TABLE … UPDATE` of ClickHouse,
/// written as an `UPDATE`.
pub(super) fn resolve(statement: &Sql, dialect: Dialect, known: &Known, is_mutation: bool) -> ResolvedStatement {
    let mut resolver = Resolver { dialect, known, is_mutation, facts: Vec::new(), seen: Count::default(), is_returning: false };
    resolver.statement(statement, &[]);
    let mut there = Count::default();
    let _ = statement.visit(&mut there);
    ResolvedStatement { is_whole: there == resolver.seen, facts: resolver.facts }
}

/// Walks one statement.
struct Resolver<'k> {
    dialect: Dialect,
    known: &'k Known,
    is_mutation: bool,
    facts: Vec<Fact>,
    seen: Count,
    /// What is walked is what an `INSERT` returns.
    is_returning: bool,
}

impl Resolver<'_> {
    fn doubt(&mut self, concerns: Concerns, at: Option<Location>, why: impl Into<String>) {
        self.facts.push(Fact::Doubt { concerns, at, why: why.into() });
    }

    /// Something that whoever asks for rights cannot judge.
    fn unclear(&mut self, why: impl Into<String>) {
        self.doubt(Concerns::Rights, None, why);
    }

    fn wider(&mut self, why: impl Into<String>) {
        self.facts.push(Fact::Wider(why.into()));
    }

    fn columns(&mut self, table: &Named, usage: Use, columns: UsedColumns) {
        let is_returned = self.is_returning;
        self.facts.push(Fact::Columns(ColumnUse { table: table.clone(), usage, columns, is_returned }));
    }

    /// A column that is used, which the statement says to be of this table.
    fn column_of(&mut self, table: &Named, usage: Use, column: &str) {
        self.columns(table, usage, UsedColumns::Named(column.to_owned()));
    }

    /// All columns of a table.
    fn whole(&mut self, table: &Named, usage: Use) {
        self.columns(table, usage, UsedColumns::All);
    }

    /// The facts of a part of the statement that belong behind others.
    fn apart(&mut self, walk: impl FnOnce(&mut Self)) -> Vec<Fact> {
        let before = std::mem::take(&mut self.facts);
        walk(self);
        std::mem::replace(&mut self.facts, before)
    }
}

/// How many tables and queries there are, so that a walk can tell whether it has passed over one.
#[derive(Default, PartialEq, Eq)]
struct Count {
    tables: usize,
    queries: usize,
}

impl Visitor for Count {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, _: &ObjectName) -> ControlFlow<()> {
        self.tables += 1;
        ControlFlow::Continue(())
    }
}

/// Where a name stands.
pub(super) fn at(ident: &Ident) -> Option<Location> {
    start(ident.span)
}

/// Where an expression begins.
fn begin(expression: &Expr) -> Option<Location> {
    start(expression.span())
}

fn start(span: Span) -> Option<Location> {
    (span.start.line > 0).then_some((span.start.line, span.start.column))
}
