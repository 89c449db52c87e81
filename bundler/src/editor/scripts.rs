//! What scripts name of the app: adapters, tools, inputs.

use std::ops::Range;

use super::{
    AppIndex, Kind, OpenFile,
    completion::{Completion, CompletionKind},
    cursor,
    describe::summary,
};
use crate::{
    link::is_script,
    script::{self, AppPart},
};

/// A definition that a script names.
pub(super) struct NameAt {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

/// An input that a handler reads.
pub(super) struct InputAt {
    pub(super) tool: String,
    pub(super) name: String,
    pub(super) range: Range<usize>,
}

/// What begins a string that names a part of the app.
const CALLS: [(&str, Kind); 4] =
    [("ctx.db(", Kind::Adapter), ("ctx.api(", Kind::Adapter), (".suggest(", Kind::Tool), ("Handler<", Kind::Tool)];

/// The name in a script at an offset.
pub(super) fn name_at(file: OpenFile<'_>, offset: usize) -> Option<NameAt> {
    if !is_script(file.path) {
        return None;
    }
    let names = script::names(file.path, file.text);
    let found = names.into_iter().find(|named| named.range.start <= offset && offset <= named.range.end)?;
    Some(NameAt { kind: kind_of(found.part)?, text: found.name, range: found.range })
}

/// The input that the handler of a tool reads at an offset.
pub(super) fn input_at(index: &AppIndex, file: OpenFile<'_>, offset: usize) -> Option<InputAt> {
    for (tool, scripts) in &index.outlines.scripts {
        let Some((path, export)) = &scripts.handler else { continue };
        if path != file.path {
            continue;
        }
        let found = script::handler_inputs(path, file.text, export)?;
        let found = found.uses.into_iter().find(|found| found.range.start <= offset && offset <= found.range.end)?;
        return Some(InputAt { tool: tool.clone(), name: found.name, range: found.range });
    }
    None
}

/// Where a script has an export.
pub(super) fn export_range(path: &str, text: &str, export: &str) -> Option<Range<usize>> {
    script::export_range(path, text, export)
}

/// The names that can stand in the string at an offset. Only what stands on its line is looked at.
pub(super) fn completions(index: &AppIndex, file: OpenFile<'_>, offset: usize) -> Vec<Completion> {
    if !is_script(file.path) {
        return Vec::new();
    }
    let Some(before) = file.text.get(..offset) else { return Vec::new() };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let replace = cursor::word(file.text, offset, &[]);
    let Some(start) = line.get(..line.len().saturating_sub(offset - replace.start)) else { return Vec::new() };
    let Some(call) = start.strip_suffix(['"', '\'', '`']) else { return Vec::new() };
    let Some((_, kind)) = CALLS.iter().find(|(beginning, _)| call.ends_with(beginning)) else { return Vec::new() };
    let of = |(name, path): (&str, &str)| {
        let outline = index.outline(path);
        Completion {
            label: name.to_owned(),
            kind: CompletionKind::Name,
            detail: outline.map(|outline| outline.detail.clone()).unwrap_or_default(),
            doc: outline.map(|outline| summary(index, outline, name)).unwrap_or_default(),
            insert: name.to_owned(),
            replace: replace.clone(),
        }
    };
    index.all(*kind).map(of).collect()
}

/// The kind of what a script names.
pub(super) fn kind_of(part: AppPart) -> Option<Kind> {
    match part {
        AppPart::Adapter | AppPart::Api => Some(Kind::Adapter),
        AppPart::Tool => Some(Kind::Tool),
        _ => None,
    }
}
