//! How many tables and queries a statement has, so that a walk can tell whether it has passed over one.

use std::ops::ControlFlow;

use sqlparser::ast::{ObjectName, Query, Visitor};

/// What there is in a statement.
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
