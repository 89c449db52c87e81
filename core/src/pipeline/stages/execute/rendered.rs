//! Statements with the values of a call, and what all of their forms take from one.

use alloc::{borrow::Cow, string::String, vec::Vec};

use super::change;
use crate::{
    Json,
    fault::{FaultResult, Stage},
    pipeline::call::run::{Run, missing_variable},
    ports::{BoundStep, BoundTransaction, Command, Node},
    secret::Secret,
    value::{Rows, Value},
};

/// What a connector runs, with everything that it needs.
pub(super) enum Rendered<'a> {
    /// One statement and its values.
    Statement {
        /// The text, without values.
        text: Cow<'a, str>,
        /// The values.
        values: Vec<Value>,
    },
    /// A command: its arguments.
    Arguments(Vec<Value>),
    /// A document.
    Document {
        /// How it is shown, without values.
        text: Cow<'a, str>,
        /// The values in it.
        values: Vec<Value>,
        /// Its members, with the values.
        members: Vec<(String, Node)>,
    },
    /// Several statements.
    Transaction {
        /// The statements, in order.
        steps: Vec<BoundStep<'a>>,
        /// The place of the one whose result is the tool's.
        result: Option<usize>,
    },
}

impl Rendered<'_> {
    /// What the connector runs.
    pub(super) fn command(&self) -> Command<'_> {
        match self {
            Self::Statement { text, values } => Command::Statement { text, values },
            Self::Arguments(values) => Command::Arguments(values),
            Self::Document { members, .. } => Command::Document(members),
            Self::Transaction { steps, result } => Command::Transaction(BoundTransaction { steps, result: *result }),
        }
    }

    /// Whether it had an effect, as far as its words and its result tell; `counts` as for a
    /// statement.
    pub(super) fn took_effect(&self, rows: &Rows, counts: bool) -> bool {
        match self {
            Self::Statement { text, .. } | Self::Document { text, .. } => change::took_effect(text, rows, counts),
            Self::Arguments(_) => change::took_effect("", rows, counts),
            // Its result is that of one of its steps.
            Self::Transaction { .. } => true,
        }
    }
}

/// The elements of a list; a single value is a list of one.
pub(super) fn listed(value: Option<&Json>) -> &[Json] {
    match value {
        None | Some(Json::Null) => &[],
        Some(Json::Array(elements)) => elements,
        Some(single) => core::slice::from_ref(single),
    }
}

/// The value of a variable of a statement.
pub(super) fn variable(run: &Run<'_>, name: &str) -> FaultResult<Secret<String>> {
    run.pipeline.ports.env.var(name).ok_or_else(|| missing_variable(name, Stage::Execute).into())
}
