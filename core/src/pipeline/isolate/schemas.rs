//! The tools' own JSON Schemas, of their arguments (`json_schema`) and of their results (`output`):
//! parsed at their first use and kept.

use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::{
    Json,
    schema::{self, Mismatch},
};

/// The schemas by the tool's place in [`App::tools`](crate::app::App::tools).
pub(in crate::pipeline) struct Schemas(Vec<ToolSchemas>);

#[derive(Default)]
struct ToolSchemas {
    input: OnceCell<Json>,
    output: OnceCell<Json>,
}

impl Schemas {
    pub(in crate::pipeline) fn of(tools: usize) -> Self {
        Self((0..tools).map(|_| ToolSchemas::default()).collect())
    }

    /// Checks the inputs of a call against `json_schema` of the tool at this place. Where they do
    /// not match, lists and objects that were sent as JSON text are read by `of_text`, which gets a
    /// text and how deep it stands, and they are checked once more.
    pub(in crate::pipeline) fn check_inputs(
        &self,
        tool: usize,
        text: &str,
        inputs: &mut Json,
        of_text: &dyn Fn(&str, usize) -> Option<Json>,
    ) -> Result<(), Mismatch> {
        let schema = self.schema(tool, |of_tool| &of_tool.input, text);
        let Err(mismatch) = schema::check(schema, inputs) else { return Ok(()) };
        if schema::read_texts(schema, inputs, of_text) { schema::check(schema, inputs) } else { Err(mismatch) }
    }

    /// Checks the result of a call against `output` of the tool at this place.
    pub(in crate::pipeline) fn check_output(&self, tool: usize, text: &str, value: &Json) -> Result<(), Mismatch> {
        schema::check(self.schema(tool, |of_tool| &of_tool.output, text), value)
    }

    /// A schema that is missing or is not JSON lets nothing pass.
    fn schema(&self, tool: usize, which: fn(&ToolSchemas) -> &OnceCell<Json>, text: &str) -> &Json {
        let schema = self.0.get(tool).map(which);
        schema.map_or(&Json::Bool(false), |kept| kept.get_or_init(|| serde_json::from_str(text).unwrap_or(Json::Bool(false))))
    }
}
