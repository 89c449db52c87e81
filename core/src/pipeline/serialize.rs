//! Stage 13, *serialize*: what the tool did → content blocks; a fault → a tool result or a JSON-RPC error.
//!
//! A string is sent verbatim, everything else as JSON text. Rows are written straight from the connector's cells.

use alloc::{boxed::Box, format, string::String, vec, vec::Vec};

use super::{
    blocks,
    call_end::CallFailure,
    content::{AuthoredContent, DataFormat},
    length::{json_length, length, not_json, result_length, text_length},
    output::ToolOutput,
    result::{ContentBlock, ToolResult},
    run::Run,
    shrink::{self, shrink},
    sync,
};
use crate::{
    Json,
    app::{ErrorStyle, OnExceed, Tool},
    fault::{Change, Fault, FaultResult, Severity, Stage},
    toon::toon,
};

/// The result of a call that went well.
///
/// # Errors
/// `OUTPUT_TOO_LARGE` where the text is longer than `limits.output`, and may not or cannot shrink.
pub(super) async fn success(run: &Run<'_>, mut outcome: ToolOutput) -> FaultResult<ToolResult> {
    let (most, on_exceed) = (run.tool.limits.output_bytes as usize, run.tool.limits.on_exceed);
    let most = most.saturating_sub(sync::announced_bytes(run)?);
    if let Some(rows) = run.truncated.get() {
        outcome = ToolOutput::Content(truncated(run, *outcome.into_content(), rows));
    }
    if on_exceed == OnExceed::Shrink {
        let whole = match &outcome {
            ToolOutput::Value(value) => text_length(value)?,
            ToolOutput::Rows(rows) => json_length(&rows.json())?,
            ToolOutput::Content(content) => length(content)?,
        };
        if whole > most {
            outcome = shrink(run, *outcome.into_content(), most)?.ok_or_else(|| too_large(run, whole))?;
        }
    }
    let result = match outcome {
        ToolOutput::Value(value) => ToolResult { content: vec![ContentBlock::Text(text_of(value)?)], ..ToolResult::default() },
        ToolOutput::Rows(rows) => {
            let text = serde_json::to_string(&rows.json()).map_err(not_json)?;
            ToolResult { content: vec![ContentBlock::Text(text)], ..ToolResult::default() }
        }
        ToolOutput::Content(content) => built(*content)?,
    };
    let length = result_length(&result)?;
    if length > most {
        return Err(too_large(run, length).into());
    }
    Ok(result)
}

/// A result of which the database has more rows than the `rows` that were read: it says so after the data, and in `_meta`.
fn truncated(run: &Run<'_>, mut content: AuthoredContent, rows: usize) -> Box<AuthoredContent> {
    content.double_structured();
    // A presenter that shows fewer of them has said how many.
    if !content.meta.contains_key(shrink::TRUNCATED_META) {
        shrink::note(&mut content, "shown", rows.into());
    }
    shrink::note(&mut content, "more", true.into());
    // What becomes of a resource or a prompt has each block as an entry.
    if run.method == "tools/call" {
        content.ui.insert(0, blocks::unread(rows));
    }
    Box::new(content)
}

fn too_large(run: &Run<'_>, length: usize) -> Fault {
    let limit = run.tool.limits.output_bytes;
    let message = format!("The result is {length} bytes long, more than this tool's limit of {limit} bytes.");
    let suggestion = match run.change.get() {
        Change::None => "Ask for less: narrow the inputs, or fetch it in parts. The limit is `limits.output` of the tool.",
        Change::Some | Change::Made | Change::Recorded | Change::Kept => "The limit is `limits.output` of the tool.",
    };
    Fault::new(Stage::Serialize, "OUTPUT_TOO_LARGE", message).suggesting(suggestion)
}

/// The data as the first block, then the others. Structured content has a copy in text for clients that read no other.
fn built(mut content: AuthoredContent) -> FaultResult<ToolResult> {
    let mut all = Vec::with_capacity(content.ui.len() + content.blocks.len() + 4);
    let is_bare = content.is_bare();
    match (content.data.take(), content.format, &content.structured) {
        (Some(data), None, _) => all.push(ContentBlock::Text(text_of(data)?)),
        (Some(data), Some(format), _) => all.push(ContentBlock::Text(formatted(&data, format)?)),
        (None, Some(format), Some(structured)) => all.push(ContentBlock::Text(formatted(structured, format)?)),
        (None, None, Some(structured)) if is_bare => all.push(ContentBlock::Text(text_of(structured.clone())?)),
        (None, ..) => {}
    }
    let last: Vec<_> = content.last_blocks().collect();
    all.extend(content.ui);
    all.extend(content.blocks);
    all.extend(last);
    Ok(ToolResult { content: all, structured: content.structured, meta: content.meta.into_iter().collect(), ..ToolResult::default() })
}

fn formatted(data: &Json, format: DataFormat) -> FaultResult<String> {
    match format {
        DataFormat::Json => Ok(serde_json::to_string(data).map_err(not_json)?),
        DataFormat::Toon => Ok(toon(data)),
    }
}

fn text_of(value: Json) -> FaultResult<String> {
    match value {
        Json::String(text) => Ok(text),
        value => Ok(serde_json::to_string(&value).map_err(not_json)?),
    }
}

/// The end of a call that failed.
///
/// # Errors
/// A fault of *resolve* or *authenticate*, and every fault of a tool whose style is `protocol`.
pub(super) fn failure(tool: &Tool, failed: CallFailure) -> FaultResult<ToolResult> {
    let fault = match failed {
        CallFailure::Reply(fault) => return Ok(rendered(tool, &fault)),
        CallFailure::Fault(fault) => fault,
    };
    if fault.refusal.is_some() || fault.stage <= Stage::Authenticate || tool.errors.style == ErrorStyle::Protocol {
        return Err(fault);
    }
    Ok(rendered(tool, &fault))
}

/// The end of a call that failed, where its result would have become part of something else.
///
/// # Errors
/// Every failure, apart from a warning that a script returned.
pub(super) fn fetched(tool: &Tool, failed: CallFailure) -> FaultResult<ToolResult> {
    match failed {
        CallFailure::Reply(fault) if fault.severity == Severity::Warning => Ok(rendered(tool, &fault)),
        CallFailure::Reply(fault) => Err(fault),
        CallFailure::Fault(fault) => Err(fault),
    }
}

fn rendered(tool: &Tool, fault: &Fault) -> ToolResult {
    ToolResult::failed(&tool.name, fault)
}
