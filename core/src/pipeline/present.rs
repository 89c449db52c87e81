//! Stage 11, *present*: what the tool's `output` promises is held. Presenters are not built yet.
//!
//! A tool with `output` sends its value as structured content, which has to fit that schema. The caller is told where it does not; the
//! value itself stays here.

use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::cell::OnceCell;

use super::{
    content::Content,
    execute::Outcome,
    run::{End, Run},
};
use crate::{
    Json,
    app::Tool,
    fault::{Fault, Faulty, Stage},
    schema::{self, Mismatch},
};

/// The schemas of the tools, parsed at their first use.
pub(super) struct Schemas(Vec<[OnceCell<Json>; 2]>);

impl Schemas {
    pub(super) fn of(tools: usize) -> Self {
        Self((0..tools).map(|_| Default::default()).collect())
    }

    /// A schema of a tool; `slot` is 0 for the input's, 1 for the output's.
    fn find<'s>(&'s self, tools: &[Tool], tool: &Tool, slot: usize, text: &str) -> Option<&'s Json> {
        let index = tools.binary_search_by(|other| other.name.as_str().cmp(&tool.name)).ok()?;
        let cell = self.0.get(index)?.get(slot)?;
        Some(cell.get_or_init(|| serde_json::from_str(text).unwrap_or(Json::Bool(false))))
    }
}

/// Checks a value against the tool's own schema of its inputs; fine where it has none.
pub(super) fn check_inputs(run: &Run<'_>, inputs: &Json) -> Result<(), Mismatch> {
    check(run, 0, run.tool.input_schema.as_deref(), inputs)
}

fn check(run: &Run<'_>, slot: usize, text: Option<&str>, value: &Json) -> Result<(), Mismatch> {
    let Some(text) = text else { return Ok(()) };
    match run.pipeline.schemas.find(&run.pipeline.app.tools, run.tool, slot, text) {
        Some(schema) => schema::check(schema, value),
        None => Ok(()),
    }
}

/// The result with its structured content; untouched where the tool declares no `output`.
///
/// # Errors
/// `OUTPUT_SCHEMA_MISMATCH` with the path.
pub(super) async fn present(run: &Run<'_>, outcome: Outcome) -> Result<Outcome, End> {
    if run.tool.output.is_none() {
        return Ok(outcome);
    }
    run.at(Stage::Present, structured(run, outcome)).await
}

async fn structured(run: &Run<'_>, outcome: Outcome) -> Faulty<Outcome> {
    let mut content = match outcome {
        Outcome::Content(content) => content,
        Outcome::Value(value) => Box::new(Content { data: Some(value), ..Content::default() }),
        Outcome::Rows(rows) => {
            let rows = serde_json::to_value(rows.json()).unwrap_or_default();
            Box::new(Content { data: Some(rows), ..Content::default() })
        }
    };
    let value = content.structured.take().or_else(|| content.data.clone());
    let mismatch = match &value {
        Some(value) => check(run, 1, run.tool.output.as_deref(), value),
        None => Err(Mismatch { path: String::new(), problem: "is missing: the tool built a result without data".into() }),
    };
    if let Err(Mismatch { path, problem }) = mismatch {
        let place = if path.is_empty() { "The result".into() } else { format!("`{path}` of the result") };
        let fault = Fault::new(Stage::Present, "OUTPUT_SCHEMA_MISMATCH", format!("{place} {problem}, by the tool's `output`."))
            .suggesting("This is a defect of the tool: calling it again with the same inputs does not help.");
        return Err(fault.into());
    }
    content.structured = value;
    Ok(Outcome::Content(content))
}
