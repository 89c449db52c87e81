use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Access, Statement};

/// `transaction` of a tool: statements that are carried out in order, and take effect together or
/// not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transaction {
    /// The statements; at least one. A placeholder of root [`Steps`](super::Root::Steps) names a
    /// step before its own, and a column of its result.
    pub steps: Vec<TransactionStep>,
    /// `result`: the place of the step whose result is the tool's. `None`: the last one that
    /// returns rows.
    pub result: Option<u32>,
}

/// One statement of a [`Transaction`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransactionStep {
    /// The name, which no other step of the transaction has.
    pub name: String,
    /// What it runs.
    pub statement: Statement,
    /// `expect`: how many rows it must return, or change where it returns none. With another number
    /// all is undone.
    pub expect: Option<u32>,
}

impl Transaction {
    /// Whether any step writes.
    #[must_use]
    pub fn access(&self) -> Access {
        let has = |access| self.steps.iter().any(|step| step.statement.access == access);
        match (has(Access::Write), has(Access::Declared)) {
            (true, _) => Access::Write,
            (false, true) => Access::Declared,
            (false, false) => Access::Read,
        }
    }
}
