//! Stage 11, *present*: what a model sees of the result.
//!
//! With `returns`, the presenter's steps, in this order: find the items, limit, validate and strip,
//! the same for what is embedded, redact, make visible what is hidden, then rules, UI blocks and
//! actions. So nothing that is stripped or redacted can appear in anything that comes after. What
//! the caller selects of the items is cut last: what is said of an item is said of the whole one.
//!
//! With `output`, the value is sent as structured content and must fit that schema. The caller is
//! told where it does not; the value itself stays here.

use alloc::{format, string::String};

use crate::pipeline::{call::run::Run, content::output::ToolOutput};
use crate::{fault::FaultResult, schema::Mismatch};

mod asked;
mod embedded;
mod fill;
mod fit;
mod hidden;
mod inline;
mod mismatch;
mod path;
mod presenter;
mod redact;
mod tell;

pub(in crate::pipeline) use asked::{Asked, asked, rename_inputs};
pub(in crate::pipeline) use presenter::{for_everybody, is_list_of_items, limited};
pub(in crate::pipeline) use redact::removes;

use mismatch::{NO_DATA, mismatched};

/// The result as its presenter or its schema has it.
///
/// # Errors
/// `OUTPUT_SCHEMA_MISMATCH` with the paths; `CONFIGURATION` without the key of `censor: hash`.
pub(in crate::pipeline) async fn present(run: &Run<'_>, asked: Asked, outcome: ToolOutput) -> FaultResult<ToolOutput> {
    match (asked::presenter(run), &run.tool.output) {
        (Some(presenter), _) => presenter::present(run, presenter, asked, outcome),
        (None, Some(schema)) => check(run, schema, outcome),
        (None, None) => Ok(outcome),
    }
}

/// The result with its structured content, which fits the schema.
fn check(run: &Run<'_>, schema: &str, outcome: ToolOutput) -> FaultResult<ToolOutput> {
    let mut content = outcome.into_content();
    let value = content.structured.take().or_else(|| content.data.clone());
    let mismatch = match &value {
        Some(value) => run.pipeline.schemas.check_output(run.place, schema, value),
        None => Err(Mismatch { path: String::new(), problem: NO_DATA.into() }),
    };
    if let Err(Mismatch { path, problem }) = mismatch {
        let place = if path.is_empty() { "The result".into() } else { format!("`{path}` of the result") };
        return Err(mismatched(format!("{place} {problem}, by the tool's `output`.")).into());
    }
    content.structured = value;
    Ok(ToolOutput::Content(content))
}
