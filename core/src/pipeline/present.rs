//! Stage 11, *present*: what the tool's `output` promises is held. Presenters are not built yet.
//!
//! A tool with `output` sends its value as structured content, which must fit that schema. The caller is told where it does not; the
//! value itself stays here.

use alloc::{format, string::String};

use super::{output::ToolOutput, run::Run};
use crate::{
    fault::{Fault, FaultResult, Stage},
    schema::Mismatch,
};

/// The result with its structured content, which fits the schema.
///
/// # Errors
/// `OUTPUT_SCHEMA_MISMATCH` with the path.
pub(super) async fn present(run: &Run<'_>, schema: &str, outcome: ToolOutput) -> FaultResult<ToolOutput> {
    let mut content = outcome.into_content();
    let value = content.structured.take().or_else(|| content.data.clone());
    let mismatch = match &value {
        Some(value) => run.pipeline.schemas.check_output(run.place, schema, value),
        None => Err(Mismatch { path: String::new(), problem: "is missing: the tool built a result without data".into() }),
    };
    if let Err(Mismatch { path, problem }) = mismatch {
        let place = if path.is_empty() { "The result".into() } else { format!("`{path}` of the result") };
        let fault = Fault::new(Stage::Present, "OUTPUT_SCHEMA_MISMATCH", format!("{place} {problem}, by the tool's `output`.")).by_author();
        return Err(fault.into());
    }
    content.structured = value;
    Ok(ToolOutput::Content(content))
}
