//! A statement that takes along the rows of audits that are required: one transaction, so that
//! either all of it takes effect or nothing.

use alloc::{borrow::Cow, vec::Vec};

use super::rendered::Rendered;
use crate::{
    app::Access,
    pipeline::call::chain::AttachedRow,
    ports::{BoundStep, BoundTransaction, Command, Parameter},
    value::Rows,
};

/// The statements of a tool, and after them those that insert the rows.
pub(super) struct Attached<'a> {
    steps: Vec<BoundStep<'a>>,
    result: Option<usize>,
    /// How many of the steps insert a row.
    inserts: u64,
}

impl<'a> Attached<'a> {
    /// `None` where the tool's statements are sent alone.
    pub(super) fn of(rows: Vec<AttachedRow>, statement: &'a Rendered<'_>) -> Option<Self> {
        let inserts = u64::try_from(rows.len()).ok().filter(|inserts| *inserts > 0)?;
        let bound = |values: Vec<_>| values.into_iter().map(Parameter::Value).collect();
        let write = |name, text, parameters| BoundStep { name, text, parameters, access: Access::Write, expect: None };
        let (mut steps, result) = match statement {
            Rendered::Statement { text, values } => (Vec::from([write("", Cow::Borrowed(&**text), bound(values.clone()))]), None),
            Rendered::Transaction { steps, result } => (steps.clone(), *result),
            // The bundler attaches nothing to a command or a document.
            Rendered::Arguments(_) | Rendered::Document { .. } => return None,
        };
        steps.extend(rows.into_iter().map(|AttachedRow { statement, values }| write("audit", Cow::Owned(statement), bound(values))));
        Some(Self { steps, result, inserts })
    }

    pub(super) fn command(&self) -> Command<'_> {
        Command::Transaction(BoundTransaction { steps: &self.steps, result: self.result })
    }

    /// Takes the rows of the audits out of how many rows all steps changed, which is the result
    /// where none returns rows.
    pub(super) fn subtract(&self, rows: &mut Rows) {
        if self.result.is_none() && rows.columns.is_empty() {
            rows.affected = rows.affected.saturating_sub(self.inserts);
        }
    }
}
