//! A statement with the values of a call, and what both of its forms take from one.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    Json,
    app::ParamStyle,
    fault::{FaultResult, Stage},
    pipeline::run::{Run, missing_variable},
    ports::{Command, Node},
    secret::Secret,
    value::Value,
};

/// A statement, ready to be sent.
pub(super) struct Rendered<'a> {
    /// Empty for a command of arguments. Of a document, how it is shown, without values.
    pub(super) text: Cow<'a, str>,
    /// The values, or all arguments.
    pub(super) params: Vec<Value>,
    /// How the connector takes them.
    pub(super) style: ParamStyle,
    /// The members of a document.
    pub(super) document: Vec<(String, Node)>,
}

impl Rendered<'_> {
    /// What the connector runs.
    pub(super) fn command(&self) -> Command<'_> {
        match self.style {
            ParamStyle::Arguments => Command::Arguments(&self.params),
            ParamStyle::Document => Command::Document(&self.document),
            _ => Command::Statement { text: &self.text, values: &self.params },
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
