//! The tools' own JSON Schemas, of their arguments (`json_schema`) and of their results (`output`): parsed at their first use and kept.

use alloc::vec::Vec;
use core::cell::OnceCell;

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

    /// Checks the inputs of a call against `json_schema` of the tool at this place.
    pub(super) fn check_inputs(&self, tool: usize, text: &str, inputs: &Json) -> Result<(), Mismatch> {
        self.check(tool, |of_tool| &of_tool.input, text, inputs)
    }

    /// Checks the result of a call against `output` of the tool at this place.
    pub(super) fn check_output(&self, tool: usize, text: &str, value: &Json) -> Result<(), Mismatch> {
        self.check(tool, |of_tool| &of_tool.output, text, value)
    }

    /// A schema that is missing or is not JSON lets nothing pass.
    fn check(&self, tool: usize, which: fn(&ToolSchemas) -> &OnceCell<Json>, text: &str, value: &Json) -> Result<(), Mismatch> {
        let schema = self.0.get(tool).map(which);
        let schema = schema.map(|kept| kept.get_or_init(|| serde_json::from_str(text).unwrap_or(Json::Bool(false))));
        schema::check(schema.unwrap_or(&Json::Bool(false)), value)
    }
}
