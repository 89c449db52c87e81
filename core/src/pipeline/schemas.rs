//! The tools' own JSON Schemas, of their arguments (`json_schema`) and of their results (`output`): parsed at their first use and kept.

use alloc::vec::Vec;
use core::cell::OnceCell;

use super::run::Run;
use crate::{
    Json,
    schema::{self, Mismatch},
};

/// The schemas by the tool's place in [`App::tools`](crate::app::App::tools).
pub(super) struct Schemas(Vec<ToolSchemas>);

#[derive(Default)]
struct ToolSchemas {
    input: OnceCell<Json>,
    output: OnceCell<Json>,
}

impl Schemas {
    pub(super) fn of(tools: usize) -> Self {
        Self((0..tools).map(|_| ToolSchemas::default()).collect())
    }
}

/// Checks the inputs of a call against `json_schema` of its tool.
pub(super) fn check_inputs(run: &Run<'_>, text: &str, inputs: &Json) -> Result<(), Mismatch> {
    check(run, |of_tool| &of_tool.input, text, inputs)
}

/// Checks the result of a call against `output` of its tool.
pub(super) fn check_output(run: &Run<'_>, text: &str, value: &Json) -> Result<(), Mismatch> {
    check(run, |of_tool| &of_tool.output, text, value)
}

/// A schema that is not there, or is no JSON, lets nothing pass.
fn check(run: &Run<'_>, which: fn(&ToolSchemas) -> &OnceCell<Json>, text: &str, value: &Json) -> Result<(), Mismatch> {
    let schema = run.pipeline.schemas.0.get(run.place).map(which);
    let schema = schema.map(|kept| kept.get_or_init(|| serde_json::from_str(text).unwrap_or(Json::Bool(false))));
    schema::check(schema.unwrap_or(&Json::Bool(false)), value)
}
