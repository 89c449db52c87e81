//! Stage 13, *serialize*: what the tool did → content blocks; a fault → a tool result or a JSON-RPC
//! error.
//!
//! A string is sent as it is, everything else as JSON text. Rows are written straight from the
//! connector's cells. Hidden characters become visible here, see [`hidden`]: a look at the written
//! bytes finds out whether there can be any.

use alloc::{boxed::Box, format, string::String, vec, vec::Vec};

use serde::Serialize;
use serde_json::json;

use crate::pipeline::{
    call::call_end::CallFailure,
    call::run::Run,
    content::blocks,
    content::length::{beside_length, not_json},
    content::output::ToolOutput,
    content::result::{ContentBlock, EMPTY, ToolResult},
    content::shrink::{self, shrink},
    content::{AuthoredContent, DataFormat},
    stages::sync,
};
use crate::{
    Json,
    app::{ErrorStyle, Limits, OnExceed, PathStep, Tool},
    fault::{Change, Fault, FaultResult, Severity, Stage},
    hidden::{self, visible},
    toon::toon,
};

/// The most bytes of a result that is no answer of `tools/call`, and of one that says what a call
/// has changed and cannot be shortened, where the author sets no limit.
const WHOLE_BYTES: usize = 1 << 20;

/// The result of a call that went well.
///
/// # Errors
/// `OUTPUT_TOO_LARGE` where the text is longer than `limits.output`, and may not or cannot shrink.
pub(in crate::pipeline) async fn success(run: &Run<'_>, mut outcome: ToolOutput) -> FaultResult<ToolResult> {
    let Limits { output_bytes, on_exceed, .. } = &run.tool.limits;
    let (output_bytes, on_exceed) = (*output_bytes as usize, *on_exceed);
    let (limit, on_exceed) = match on_exceed {
        // What a model reads of a tool is no measure of a resource.
        OnExceed::Fit if run.method != "tools/call" => (WHOLE_BYTES, OnExceed::Error),
        on_exceed => (output_bytes, on_exceed),
    };
    let announced = sync::announced_bytes(run)?;
    let most = limit.saturating_sub(announced);
    if let Some(rows) = run.truncated.get() {
        outcome = ToolOutput::Content(truncated(run, *outcome.into_content(), rows));
    }
    let mut written = write(run, &mut outcome)?;
    if written.length > most {
        let whole = written.length;
        // A change that was made is not reported as a failure for the length of its answer.
        let stays = on_exceed == OnExceed::Fit && has_changed(run) && whole <= WHOLE_BYTES.saturating_sub(announced);
        let too_large = |length| too_large(run, length, limit);
        let is_text = matches!(&outcome, ToolOutput::Value(Json::String(_)));
        if on_exceed != OnExceed::Error && !is_text {
            let content = *outcome.into_content();
            let spare = stays.then(|| content.clone());
            outcome = match (shrink(run, content, most)?, spare) {
                (Some(shrunk), _) => shrunk,
                (None, Some(spare)) => ToolOutput::Content(Box::new(spare)),
                (None, None) => return Err(too_large(whole).into()),
            };
            written = write(run, &mut outcome)?;
            if written.length > most && !stays {
                return Err(too_large(written.length).into());
            }
        } else if !stays {
            return match written.first.filter(|_| on_exceed == OnExceed::Fit) {
                Some(text) => Ok(beginning(&text, most)),
                None => Err(too_large(whole).into()),
            };
        }
    }
    Ok(built(run, outcome, written.first))
}

/// The beginning of a text, and how much of it that is.
fn beginning(text: &str, most: usize) -> ToolResult {
    /// What the notice and `_meta` may have.
    const BESIDE: usize = 256;
    let end = text.floor_char_boundary(most.saturating_sub(BESIDE));
    let meta = json!({ "bytes": end, "total_bytes": text.len() });
    let shown = ContentBlock::Text(text.get(..end).unwrap_or_default().into());
    ToolResult {
        content: vec![shown, blocks::cut_text(end, text.len())],
        meta: vec![(blocks::TRUNCATED_META.into(), meta)],
        ..ToolResult::default()
    }
}

/// Whether the call, or the earlier one whose answer it gives, has changed something, or may have.
fn has_changed(run: &Run<'_>) -> bool {
    run.replayed.get() || run.change.get() != Change::None || run.unanswered_writes.get() > 0 || run.unsafe_requests.get() > 0
}

/// The data as text, and how long the whole result is.
struct TextOfResult {
    /// The first block; `None` where the data is in none.
    first: Option<String>,
    length: usize,
}

/// Writes the data of a result, in which nothing is hidden any more afterwards.
fn write(run: &Run<'_>, outcome: &mut ToolOutput) -> FaultResult<TextOfResult> {
    let text = match outcome {
        ToolOutput::Content(content) => return write_content(run, content),
        ToolOutput::Value(Json::String(text)) => visible(text).into_owned(),
        ToolOutput::Value(value) => visible_json(value, &[])?,
        ToolOutput::Rows(rows) => {
            let text = json_text(&rows.json())?;
            match !hidden::is_plain_json(&text) && hidden::reveal_rows(rows) {
                true => json_text(&rows.json())?,
                false => text,
            }
        }
    };
    Ok(TextOfResult { length: text.len(), first: Some(text) })
}

/// The same of a result with blocks: the data is in the first one. Structured content has a copy in
/// text for clients that read no other.
fn write_content(run: &Run<'_>, content: &mut AuthoredContent) -> FaultResult<TextOfResult> {
    let is_bare = content.is_bare();
    // A presenter has seen to what is hidden, and says itself what stays as it is.
    let whole: &[&[PathStep]] = &[&[]];
    let of_output: Vec<&[PathStep]> = run.tool.as_is.iter().map(|path| path.0.as_slice()).collect();
    let as_is = if run.tool.returns.is_some() { whole } else { of_output.as_slice() };
    let structured = content.structured.as_mut().map(|value| visible_json(value, as_is)).transpose()?;
    let structured_length = structured.as_ref().map_or(0, String::len);
    let first = match (&mut content.data, content.format, &content.structured) {
        (Some(Json::String(text)), None, _) => {
            if !as_is.iter().any(|path| path.is_empty()) {
                hidden::reveal(text);
            }
            Some(text.clone())
        }
        (Some(data), Some(DataFormat::Toon), _) => {
            hidden::reveal_json(data, as_is);
            Some(toon(data))
        }
        (Some(data), None | Some(DataFormat::Json), _) => Some(visible_json(data, as_is)?),
        (None, Some(DataFormat::Toon), Some(structured)) => Some(toon(structured)),
        (None, None, Some(Json::String(text))) if is_bare => Some(text.clone()),
        (None, None, Some(_)) if !is_bare => None,
        (None, None | Some(DataFormat::Json), _) => structured,
        (None, Some(DataFormat::Toon), None) => None,
    };
    let length = first.as_ref().map_or(0, String::len) + structured_length + beside_length(content)?;
    Ok(TextOfResult { first, length })
}

/// A value as JSON, in which nothing is hidden apart from what the paths lead to.
fn visible_json(value: &mut Json, as_is: &[&[PathStep]]) -> FaultResult<String> {
    let text = json_text(value)?;
    match !hidden::is_plain_json(&text) && hidden::reveal_json(value, as_is) {
        true => json_text(value),
        false => Ok(text),
    }
}

fn json_text(value: &impl Serialize) -> FaultResult<String> {
    Ok(serde_json::to_string(value).map_err(not_json)?)
}

/// A result of which the database has more rows than the `rows` that were read: it says so after
/// the data, and in `_meta`.
fn truncated(run: &Run<'_>, mut content: AuthoredContent, rows: usize) -> Box<AuthoredContent> {
    content.double_structured();
    // A presenter that shows fewer of them has said how many.
    if !content.meta.contains_key(blocks::TRUNCATED_META) {
        shrink::note(&mut content, "shown", rows.into());
    }
    shrink::note(&mut content, "more", true.into());
    // What becomes of a resource or a prompt has each block as an entry.
    if run.method == "tools/call" {
        content.ui.insert(0, blocks::unread(rows));
    }
    Box::new(content)
}

fn too_large(run: &Run<'_>, length: usize, limit: usize) -> Fault {
    let message = format!("The result is {length} bytes long, more than this tool's limit of {limit} bytes.");
    let suggestion = match run.change.get() {
        Change::None => "Ask for less: narrow the inputs, or fetch it in parts. The limit is `limits.output` of the tool.",
        Change::Some | Change::Made | Change::Recorded | Change::Kept => "The limit is `limits.output` of the tool.",
    };
    Fault::new(Stage::Serialize, "OUTPUT_TOO_LARGE", message).suggesting(suggestion)
}

/// The result: the data as the first block, then the others.
fn built(run: &Run<'_>, outcome: ToolOutput, first: Option<String>) -> ToolResult {
    let mut result = ToolResult { content: first.map(ContentBlock::Text).into_iter().collect(), ..ToolResult::default() };
    if let ToolOutput::Content(content) = outcome {
        let last: Vec<_> = content.last_blocks().collect();
        let AuthoredContent { limited, ui, blocks, structured, meta, .. } = *content;
        result.content.extend(limited.into_iter().chain(ui).chain(blocks).chain(last));
        (result.structured, result.meta) = (structured, meta.into_iter().collect());
    }
    // A resource may be empty; what becomes of one is no block.
    if run.method != "resources/read" {
        result.content.iter_mut().for_each(say_empty);
    }
    result
}

fn say_empty(block: &mut ContentBlock) {
    match block {
        ContentBlock::Text(text) if text.trim().is_empty() => *text = EMPTY.into(),
        ContentBlock::Text(_) => {}
        ContentBlock::Other(block) => {
            if block.get("type").is_some_and(|kind| kind == "text")
                && let Some(Json::String(text)) =
                    block.get_mut("text").filter(|text| text.as_str().is_some_and(|text| text.trim().is_empty()))
            {
                *text = EMPTY.into();
            }
        }
    }
}

/// The end of a call that failed.
///
/// # Errors
/// A fault of *resolve* or *authenticate*, and every fault of a tool whose style is `protocol`.
pub(in crate::pipeline) fn failure(tool: &Tool, failed: CallFailure) -> FaultResult<ToolResult> {
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
pub(in crate::pipeline) fn fetched(tool: &Tool, failed: CallFailure) -> FaultResult<ToolResult> {
    match failed {
        CallFailure::Reply(fault) if fault.severity == Severity::Warning => Ok(rendered(tool, &fault)),
        CallFailure::Reply(fault) => Err(fault),
        CallFailure::Fault(fault) => Err(fault),
    }
}

fn rendered(tool: &Tool, fault: &Fault) -> ToolResult {
    ToolResult::failed(&tool.name, fault)
}
