//! What walks a statement, and notes what there is in it.

use std::ops::ControlFlow;

use sqlparser::ast::{ObjectName, Query, Visitor};

use super::{
    facts::{ColumnUse, Concerns, Fact, Use, UsedColumns},
    known::Known,
    names::Named,
};
use crate::statement::{Dialect, shown::Location};

/// Walks one statement.
pub(super) struct Resolver<'k> {
    pub(super) dialect: Dialect,
    pub(super) known: &'k Known,
    pub(super) is_mutation: bool,
    pub(super) facts: Vec<Fact>,
    pub(super) seen: Count,
    /// What is walked is what an `INSERT` returns.
    pub(super) is_returning: bool,
}

impl Resolver<'_> {
    pub(super) fn doubt(&mut self, concerns: Concerns, at: Option<Location>, why: impl Into<String>) {
        self.facts.push(Fact::Doubt { concerns, at, why: why.into() });
    }

    /// Something that whoever asks for rights cannot judge.
    pub(super) fn unclear(&mut self, why: impl Into<String>) {
        self.doubt(Concerns::Rights, None, why);
    }

    pub(super) fn wider(&mut self, why: impl Into<String>) {
        self.facts.push(Fact::Wider(why.into()));
    }

    pub(super) fn columns(&mut self, table: &Named, usage: Use, columns: UsedColumns) {
        let is_returned = self.is_returning;
        self.facts.push(Fact::Columns(ColumnUse { table: table.clone(), usage, columns, is_returned }));
    }

    /// A column that is used, which the statement says to be of this table.
    pub(super) fn column_of(&mut self, table: &Named, usage: Use, column: &str) {
        self.columns(table, usage, UsedColumns::Named(column.to_owned()));
    }

    /// All columns of a table.
    pub(super) fn whole(&mut self, table: &Named, usage: Use) {
        self.columns(table, usage, UsedColumns::All);
    }

    /// The facts of a part of the statement that belong behind others.
    pub(super) fn apart(&mut self, walk: impl FnOnce(&mut Self)) -> Vec<Fact> {
        let before = std::mem::take(&mut self.facts);
        walk(self);
        std::mem::replace(&mut self.facts, before)
    }
}

/// How many tables and queries there are, so that a walk can tell whether it has passed over one.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) tables: usize,
    pub(super) queries: usize,
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
