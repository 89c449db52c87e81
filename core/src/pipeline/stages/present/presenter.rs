//! A result as a presenter has it.

use alloc::{format, string::String, vec::Vec};

use serde_json::{Map, json};

use super::{
    asked::{self, Asked},
    fill::Sight,
    fit::{Cut, Fitter, Problem},
    hidden::reveal,
    mismatch::{NO_DATA, mismatched},
    redact::{Redactor, shown_value},
    tell::{self, Said},
};
use crate::{
    Json,
    app::{OnMismatch, Presenter, TextFormat},
    fault::FaultResult,
    pipeline::{
        call::report::Subject,
        call::run::{Run, TARGET},
        content::blocks::TRUNCATED_META,
        content::json_text::word,
        content::output::ToolOutput,
        content::result::ContentBlock,
        content::{AuthoredContent, DataFormat},
    },
};

/// The member of `_meta` that says how to get the next items: the input, and its value.
const CURSOR_META: &str = "millrace/cursor";
/// The member of `_meta` that says how many items were left out because they did not fit the
/// schema.
const DROPPED_META: &str = "millrace/dropped";

/// What a result consists of.
struct Items {
    items: Vec<Json>,
    is_list: bool,
    /// The member that holds the list.
    key: Option<String>,
}

/// The items that fit a presenter.
struct Fitted<'a> {
    items: Vec<Json>,
    /// How many were left out because they did not.
    dropped: usize,
    /// What was cut of them.
    cuts: Vec<Cut<'a>>,
}

/// The result, presented.
///
/// # Errors
/// As [`present`](super::present).
pub(super) fn present(run: &Run<'_>, presenter: &Presenter, asked: Asked, outcome: ToolOutput) -> FaultResult<ToolOutput> {
    let mut content = outcome.into_content();
    // What a script sends as structured content is not presented, and so is not sent.
    let structured = content.structured.take();
    let Some(data) = content.data.take().or(structured) else {
        return Err(mismatched(format!("The result {NO_DATA}, and the presenter `{}` needs them.", presenter.name)).into());
    };
    let Items { mut items, is_list, key } = found(presenter, data)?;
    let redactor = Redactor::new(run, presenter, false)?;
    let total = items.len();
    let most = presenter.limit.as_ref().map_or(usize::MAX, |limit| limit.max.min(asked.limit.unwrap_or(u32::MAX)) as usize);
    let limit = presenter.limit.as_ref().filter(|_| is_list && total > most);
    if limit.is_some() {
        items.truncate(most);
    }
    let Fitted { items: mut fitted, dropped, cuts } = fitted(run, presenter, items, is_list)?;
    for item in &mut fitted {
        redactor.item(presenter, item);
        reveal(run.pipeline.app(), &presenter.fields, item);
    }
    let shown = fitted.len();
    let mut items = Json::Array(fitted);
    let said = Said::of(run, presenter, &mut items, is_list)?;
    let sight = Sight::of(run, &items);
    let mut ui = Vec::new();
    if limit.is_some() {
        content.meta.insert(TRUNCATED_META.into(), json!({ "shown": shown, "total": total }));
        let last = items.as_array().and_then(|items| items.last());
        content.limited = limited(run, &mut content, last, shown, total - dropped);
    }
    ui.extend(cuts.iter().map(|cut| tell::cut(sight, cut)));
    if dropped > 0 {
        ui.push(tell::dropped(dropped));
        content.meta.insert(DROPPED_META.into(), dropped.into());
    }
    if let Some(names) = &asked.select {
        for item in items.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
            item.retain(|name, _| names.contains(name));
        }
    }
    ui.append(&mut content.ui);
    ui.extend(said.ui);
    content.ui = ui;
    content.rules.extend(said.rules);
    content.actions.extend(said.actions);
    let data = Some(whole(items, is_list, key));
    match presenter.structured {
        true => content.structured = data,
        false => content.data = data,
    }
    content.format = Some(match (presenter.format, asked.format) {
        (TextFormat::Toon, _) => DataFormat::Toon,
        (TextFormat::Input, Some(format)) => format,
        (TextFormat::Json | TextFormat::Input, _) => DataFormat::Json,
    });
    Ok(ToolOutput::Content(content))
}

/// Holds items to the schema of a presenter.
///
/// # Errors
/// One does not fit, and may not be left out.
fn fitted<'a>(run: &'a Run<'_>, presenter: &'a Presenter, items: Vec<Json>, is_list: bool) -> FaultResult<Fitted<'a>> {
    let mut fitter = Fitter::new(run.pipeline.app());
    let mut fitted = Vec::with_capacity(items.len());
    let mut dropped = 0;
    for (index, item) in items.into_iter().enumerate() {
        let before = fitter.count;
        let item = fitter.item(presenter, is_list.then_some(index), item);
        if fitter.count == before {
            fitted.push(item);
        } else if presenter.on_mismatch == OnMismatch::DropItem && is_list {
            dropped += 1;
        }
    }
    if fitter.count > 0 {
        let problems = core::mem::take(&mut fitter.problems);
        let said = listed(&problems, fitter.count);
        let log = for_log(run, presenter, problems, &said)?;
        if dropped == 0 {
            let message = format!("The result does not match the presenter `{}`: {said}.", presenter.name);
            return Err(mismatched(message).logging(log).into());
        }
        let Subject { tool, request_id, .. } = run.subject();
        tracing::warn!(target: TARGET, tool, request_id, dropped, problems = log, "items do not match the presenter and were left out");
    }
    Ok(Fitted { items: fitted, dropped, cuts: fitter.cuts })
}

/// Whether the list of a presented result is that of its items, and not one within a single item.
pub(in crate::pipeline) fn is_list_of_items(run: &Run<'_>, content: &AuthoredContent) -> bool {
    match content.structured.as_ref().or(content.data.as_ref()) {
        Some(Json::Array(_)) => true,
        Some(Json::Object(members)) => {
            let key = asked::presenter(run).and_then(|presenter| presenter.items.as_ref());
            key.and_then(|key| members.get(key)).is_some_and(Json::is_array)
        }
        _ => false,
    }
}

/// What tells that only the first items are shown, and how to get those after `last`, in `_meta`,
/// too; `None` where the tool's presenter has no `limit`.
pub(in crate::pipeline) fn limited(
    run: &Run<'_>,
    content: &mut AuthoredContent,
    last: Option<&Json>,
    shown: usize,
    total: usize,
) -> Option<ContentBlock> {
    let limit = asked::presenter(run)?.limit.as_ref()?;
    let next = limit.cursor.as_ref().and_then(|cursor| {
        let value = match &cursor.field {
            Some(field) => tell::cursor_value(last?, field)?,
            None => run.passed.get().saturating_add(shown as u64).into(),
        };
        Some((cursor, value))
    });
    content.meta.shift_remove(CURSOR_META);
    if let Some((cursor, value)) = &next {
        content.meta.insert(CURSOR_META.into(), json!({ cursor.input.as_str(): value }));
    }
    let sight = Sight::of(run, &Json::Null);
    Some(tell::limited(sight, limit, shown, total, next.as_ref().map(|(_, value)| value), ""))
}

/// Data as the tool's presenter has it for anybody: limited, without what it leaves out, and with
/// everything replaced that it replaces for anybody; for messages. `null` where that cannot be
/// done.
pub(in crate::pipeline) fn for_everybody(run: &Run<'_>, data: &Json) -> Json {
    let Some(presenter) = asked::presenter(run) else { return data.clone() };
    let (Ok(Items { mut items, is_list, key }), Ok(redactor)) = (found(presenter, data.clone()), Redactor::new(run, presenter, true))
    else {
        return Json::Null;
    };
    if let Some(limit) = presenter.limit.as_ref().filter(|_| is_list) {
        items.truncate(limit.max as usize);
    }
    let mut fitter = Fitter::new(run.pipeline.app());
    let leaves_out = is_list && presenter.on_mismatch == OnMismatch::DropItem;
    let shown = items.into_iter().filter_map(|item| {
        let before = fitter.count;
        let mut item = fitter.item(presenter, None, item);
        if leaves_out && fitter.count > before {
            return None;
        }
        redactor.item(presenter, &mut item);
        Some(item)
    });
    whole(shown.collect(), is_list, key)
}

/// Finds the items in a result.
fn found(presenter: &Presenter, data: Json) -> FaultResult<Items> {
    match data {
        Json::Array(items) => Ok(Items { items, is_list: true, key: None }),
        Json::Object(mut members) => {
            if let Some(key) = &presenter.items
                && members.get(key).is_some_and(Json::is_array)
                && let Some(Json::Array(items)) = members.get_mut(key).map(Json::take)
            {
                return Ok(Items { items, is_list: true, key: Some(key.clone()) });
            }
            Ok(Items { items: [Json::Object(members)].into(), is_list: false, key: None })
        }
        other => {
            let message =
                format!("The presenter `{}` needs an object or a list of objects; the result is {}.", presenter.name, word(Some(&other)));
            Err(mismatched(message).into())
        }
    }
}

/// The wire data.
fn whole(items: Json, is_list: bool, key: Option<String>) -> Json {
    match (items, key) {
        (items, Some(key)) => {
            let mut members = Map::new();
            members.insert(key, items);
            members.into()
        }
        (Json::Array(mut items), None) if !is_list => items.pop().unwrap_or_default(),
        (items, None) => items,
    }
}

/// Problems with the values that cause them, as far as nobody's redaction hides them.
fn for_log(run: &Run<'_>, presenter: &Presenter, problems: Vec<Problem>, said: &str) -> FaultResult<String> {
    let redactor = Redactor::new(run, presenter, true)?;
    let mut log = String::from(said);
    for mut excerpt in problems.into_iter().filter_map(|problem| problem.excerpt) {
        redactor.item(presenter, &mut excerpt);
        log.push_str("; found ");
        log.push_str(&shown_value(&excerpt));
    }
    Ok(log)
}

/// Problems as part of a sentence.
fn listed(problems: &[Problem], count: usize) -> String {
    let mut text = String::new();
    for Problem { path, problem, .. } in problems {
        if !text.is_empty() {
            text.push_str("; ");
        }
        if path.is_empty() {
            text.push_str("it ");
        } else {
            text.push_str(&format!("`{path}` "));
        }
        text.push_str(problem);
    }
    match count - problems.len() {
        0 => text,
        more => text + &format!("; and {more} more"),
    }
}
