//! Stage 13, *serialize*: what the tool did → content blocks; a fault → a tool result or a JSON-RPC error.
//!
//! A string is sent verbatim, everything else as JSON text. Rows are written straight from the connector's cells.

use alloc::{format, string::String, vec};

use super::{
    ContentBlock, ToolResult,
    execute::Outcome,
    run::{End, Run, TARGET},
};
use crate::{
    Json,
    app::{ErrorStyle, Tool},
    fault::{Fault, Faulty, Refusal, Severity, Stage},
};

/// The member of `_meta` that holds a fault's typed fields.
const ERROR_META: &str = "millrace/error";

/// The result of a call that went well.
///
/// # Errors
/// `OUTPUT_TOO_LARGE` where the text is longer than `limits.output`.
pub(super) async fn success(run: &Run<'_>, outcome: Outcome) -> Faulty<ToolResult> {
    let text = match outcome {
        Outcome::Value(Json::String(text)) => Ok(text),
        Outcome::Value(value) => serde_json::to_string(&value),
        Outcome::Rows(rows) => serde_json::to_string(&rows.json()),
    };
    let text: String = text.map_err(|error| {
        Fault::new(Stage::Serialize, "RESULT_NOT_JSON", "The result cannot be written as JSON.").logging(format!("{error}"))
    })?;
    let limit = run.tool.limits.output_bytes;
    if text.len() > limit as usize {
        let message = format!("The result is {} bytes long, more than this tool's limit of {limit} bytes.", text.len());
        return Err(Fault::new(Stage::Serialize, "OUTPUT_TOO_LARGE", message)
            .suggesting("Ask for less: narrow the inputs, or fetch it in parts. The limit is `limits.output` of the tool.")
            .into());
    }
    Ok(ToolResult { content: vec![ContentBlock::Text(text)], ..ToolResult::default() })
}

/// The end of a call that failed, and its line in the log.
///
/// # Errors
/// A fault of *resolve* or *authenticate*, and every fault of a tool whose style is `protocol`.
pub(super) fn failure(tool: &Tool, end: End) -> Faulty<ToolResult> {
    let fault = match end {
        End::Reply(fault) => return Ok(rendered(tool, &fault)),
        End::Fault(fault) => fault,
    };
    log(&fault);
    if fault.stage <= Stage::Authenticate || tool.errors.style == ErrorStyle::Protocol {
        return Err(fault);
    }
    Ok(rendered(tool, &fault))
}

/// The end of a call that failed, where its result would have become part of something else.
///
/// # Errors
/// Every failure, apart from a warning that a script returned.
pub(super) fn fetched(tool: &Tool, end: End) -> Faulty<ToolResult> {
    match end {
        End::Reply(fault) if fault.severity == Severity::Warning => Ok(rendered(tool, &fault)),
        End::Reply(fault) => Err(fault),
        End::Fault(fault) => {
            log(&fault);
            Err(fault)
        }
    }
}

fn rendered(tool: &Tool, fault: &Fault) -> ToolResult {
    ToolResult {
        content: vec![ContentBlock::Text(fault.envelope(&tool.name))],
        structured: None,
        is_error: fault.severity != Severity::Warning,
        meta: vec![(ERROR_META.into(), fault.meta())],
    }
}

/// A fault with something for the operator is a warning. A refused caller is not: anybody can make one.
fn log(fault: &Fault) {
    let (stage, code) = (fault.stage.as_str(), fault.code.as_str());
    match (&fault.log, &fault.refusal) {
        (Some(detail), None) => tracing::warn!(target: TARGET, stage, code, detail, "call failed"),
        (Some(detail), Some(Refusal::Unauthorized | Refusal::Forbidden(_))) => {
            tracing::info!(target: TARGET, stage, code, detail, "caller refused");
        }
        (None, _) => tracing::debug!(target: TARGET, stage, code, "call failed"),
    }
}
