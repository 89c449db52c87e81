//! `limits.output.on_exceed: shrink`: a result that is too long gets shorter, and stays whole.
//!
//! Blocks that only people see go first, the last one first; then rows, from the end. What is left
//! is valid JSON and says what is missing, in a text block after the data and in `_meta`; where the
//! presenter has a cursor, how to get the next ones, too. Every other block stays. What has no
//! list, or is too long without any of its rows, cannot shrink.

use alloc::{boxed::Box, vec::Vec};

use serde_json::json;

use crate::pipeline::{
    call::run::Run,
    content::AuthoredContent,
    content::blocks::{self, TRUNCATED_META},
    content::length::{json_length, length},
    content::output::ToolOutput,
    content::result::ContentBlock,
    stages::present,
};
use crate::{Json, fault::FaultResult};

/// The result within so many bytes; `None` where it cannot shrink that far.
///
/// # Errors
/// `RESULT_NOT_JSON`
pub(in crate::pipeline) fn shrink(run: &Run<'_>, mut content: AuthoredContent, most: usize) -> FaultResult<Option<ToolOutput>> {
    // Both shrink.
    content.double_structured();
    let mut dropped = 0;
    while length(&content)? > most {
        let (of_script, of_ui) = (content.blocks.iter().rposition(is_for_people_only), content.ui.iter().rposition(is_for_people_only));
        match (of_script, of_ui) {
            (Some(last), _) => drop(content.blocks.remove(last)),
            (None, Some(last)) => drop(content.ui.remove(last)),
            (None, None) => break,
        }
        dropped += 1;
        note(&mut content, "blocks", dropped.into());
    }
    if length(&content)? > most && !cut(run, &mut content, most)? {
        return Ok(None);
    }
    let fits = match (&run.tool.output, &content.structured) {
        (Some(schema), Some(structured)) => run.pipeline.schemas.check_output(run.place, schema, structured).is_ok(),
        _ => true,
    };
    Ok(fits.then(|| ToolOutput::Content(Box::new(content))))
}

/// Cuts rows from the end; `false` where not even one can stay.
fn cut(run: &Run<'_>, content: &mut AuthoredContent, most: usize) -> FaultResult<bool> {
    let mut lengths: Vec<usize> = Vec::new();
    for rows in lists(content) {
        lengths.resize(rows.len(), 0);
        for (length, row) in lengths.iter_mut().zip(rows.iter()) {
            // The comma counts, too: once too often, which the last look makes up for.
            *length += json_length(row)? + 1;
        }
    }
    // A presenter may have left out some already.
    let is_presented = present::is_list_of_items(run, content);
    let noted =
        content.meta.get(TRUNCATED_META).and_then(|noted| noted.get("total")?.as_u64()).and_then(|total| usize::try_from(total).ok());
    let total = noted.unwrap_or(0).max(lengths.len());
    // The numbers are longest where each is the total, or more.
    let mut bare = content.clone();
    keep(run, &mut bare, 0, [total, total.saturating_mul(2)], is_presented);
    let Some(mut room) = most.checked_sub(length(&bare)?) else { return Ok(false) };
    let mut shown = 0;
    while let Some(left) = lengths.get(shown).and_then(|length| room.checked_sub(*length)) {
        (room, shown) = (left, shown + 1);
    }
    keep(run, content, shown, [shown, total], is_presented);
    // How long the cursor is, which depends on the last row, is known only now, and so is how long
    // the rows are as TOON.
    while shown > 0 && length(content)? > most {
        shown -= 1 + shown / 64;
        keep(run, content, shown, [shown, total], is_presented);
    }
    Ok(shown > 0)
}

/// Leaves the first rows, and says so.
fn keep(run: &Run<'_>, content: &mut AuthoredContent, rows: usize, [shown, total]: [usize; 2], is_presented: bool) {
    let mut last = None;
    for list in lists(content) {
        list.truncate(rows);
        last = list.last().cloned();
    }
    note(content, "shown", shown.into());
    note(content, "total", total.into());
    let said = if is_presented { present::limited(run, content, last.as_ref(), shown, total) } else { None };
    content.limited = Some(said.unwrap_or_else(|| blocks::truncation(shown, total - shown)));
}

pub(in crate::pipeline) fn note(content: &mut AuthoredContent, name: &str, value: Json) {
    let noted = content.meta.entry(TRUNCATED_META).or_insert_with(|| json!({}));
    if let Some(noted) = noted.as_object_mut() {
        noted.insert(name.into(), value);
    }
}

/// The list of the data and its copy in structured content; or the only one that there is.
fn lists(content: &mut AuthoredContent) -> Vec<&mut Vec<Json>> {
    let mut lists: Vec<_> = [&mut content.data, &mut content.structured].into_iter().flatten().filter_map(list).collect();
    if lists.len() == 2 && lists[0].len() != lists[1].len() {
        lists.pop();
    }
    lists
}

/// A list, or the only list among the members of an object.
fn list(data: &mut Json) -> Option<&mut Vec<Json>> {
    match data {
        Json::Array(rows) => Some(rows),
        Json::Object(members) => {
            let mut lists = members.values_mut().filter_map(Json::as_array_mut);
            let only = lists.next()?;
            lists.next().is_none().then_some(only)
        }
        _ => None,
    }
}

fn is_for_people_only(block: &ContentBlock) -> bool {
    let ContentBlock::Other(block) = block else { return false };
    let audience = block.get("annotations").and_then(|annotations| annotations.get("audience")).and_then(Json::as_array);
    audience.is_some_and(|roles| roles.iter().all(|role| role == "user"))
}
