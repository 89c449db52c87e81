//! How long a result is: what counts against `limits.output`.

use serde::Serialize;

use crate::pipeline::{
    content::result::ContentBlock,
    content::{AuthoredContent, DataFormat},
};
use crate::{
    Json,
    fault::{Fault, FaultResult, Stage},
    toon::toon,
};

/// The length of the result that is made of it: the text of plain blocks, everything else as it is
/// written.
pub(in crate::pipeline) fn length(content: &AuthoredContent) -> FaultResult<usize> {
    let text = match (&content.data, content.format, &content.structured) {
        (Some(data), Some(DataFormat::Toon), _) | (None, Some(DataFormat::Toon), Some(data)) => toon(data).len(),
        (Some(data), Some(DataFormat::Json), _) | (None, Some(DataFormat::Json), Some(data)) => json_length(data)?,
        (Some(data), None, _) => text_length(data)?,
        (None, ..) => 0,
    };
    let structured = content.structured.as_ref().map_or(Ok(0), json_length)?;
    Ok(text + structured + beside_length(content)?)
}

/// How long is what a result has beside its data.
pub(in crate::pipeline) fn beside_length(content: &AuthoredContent) -> FaultResult<usize> {
    let meta: usize = content.meta.values().map(json_length).sum::<FaultResult<_>>()?;
    let last: usize = content.last_blocks().map(|block| block_length(&block)).sum::<FaultResult<_>>()?;
    let limited = content.limited.as_ref().map_or(Ok(0), block_length)?;
    Ok(limited + blocks_length(&content.ui)? + blocks_length(&content.blocks)? + last + meta)
}

fn blocks_length(blocks: &[ContentBlock]) -> FaultResult<usize> {
    blocks.iter().map(block_length).sum()
}

fn block_length(block: &ContentBlock) -> FaultResult<usize> {
    match block {
        ContentBlock::Text(text) => Ok(text.len()),
        ContentBlock::Other(block) => json_length(block),
    }
}

/// The length of a value as the text of a block: a string as it is.
fn text_length(value: &Json) -> FaultResult<usize> {
    match value {
        Json::String(text) => Ok(text.len()),
        value => json_length(value),
    }
}

/// How long a value is as JSON.
pub(in crate::pipeline) fn json_length(value: &impl Serialize) -> FaultResult<usize> {
    Ok(serde_json::to_string(value).map_err(not_json)?.len())
}

/// The fault of a result that is not JSON.
pub(in crate::pipeline) fn not_json(error: serde_json::Error) -> Fault {
    Fault::new(Stage::Serialize, "RESULT_NOT_JSON", "The result cannot be written as JSON.").by_author().logging(alloc::format!("{error}"))
}
