//! What keys and definitions are, in Markdown.

use super::{AppIndex, Kind};
use crate::{
    field::{Field, what_it_takes},
    outline::Outline,
};

/// The most names that a description lists.
const MOST_LISTED: usize = 30;

/// What a key means, and what holds without it.
pub(super) fn key_doc(field: &Field) -> String {
    match field.default {
        Some(default) => format!("{}\n\nDefault: {}", field.doc, written(default)),
        None => field.doc.to_owned(),
    }
}

/// A key: what it takes and means.
pub(super) fn key(field: &Field) -> String {
    let required = if field.required { ", required" } else { "" };
    format!("**`{}`**: {}{required}\n\n{}", field.key, what_it_takes(&field.shape), key_doc(field))
}

/// A default is a value, or prose.
fn written(default: &str) -> String {
    if default.contains(' ') && !default.starts_with(['{', '[']) { format!("{default}.") } else { format!("`{default}`") }
}

/// What a definition is: its description, and what it takes.
pub(super) fn summary(index: &AppIndex, outline: &Outline, name: &str) -> String {
    let mut text = outline.description.trim().to_owned();
    let inputs: Vec<String> = outline.inputs.iter().take(MOST_LISTED).map(|input| format!("`{}`: {}", input.name, input.kind)).collect();
    if !inputs.is_empty() {
        paragraph(&mut text, &format!("Inputs: {}", inputs.join(", ")));
    }
    if outline.record.name == "tool" {
        returned(index, name, &mut text);
    }
    text
}

/// What a statement returns, where `millrace.lock` knows.
pub(super) fn returned(index: &AppIndex, tool: &str, text: &mut String) {
    let Some(locked) = index.lock.as_ref().and_then(|lock| lock.tools.get(tool)) else { return };
    if locked.columns.is_empty() {
        return paragraph(text, "Returns no rows, as `millrace.lock` says.");
    }
    let columns: Vec<String> =
        locked.columns.iter().take(MOST_LISTED).map(|column| format!("`{}`: {}", column.name, column.type_name)).collect();
    paragraph(text, &format!("Returns rows of {}, as `millrace.lock` says.", columns.join(", ")));
}

/// A definition, with its kind, its file and its summary.
pub(super) fn definition(index: &AppIndex, kind: Kind, name: &str) -> Option<String> {
    let file = index.file_of(kind, name)?;
    let outline = index.outline(file)?;
    let detail = match kind {
        Kind::Adapter => format!(", connector `{}`", outline.detail),
        Kind::Tool if !outline.detail.is_empty() => format!(", adapter `{}`", outline.detail),
        _ => String::new(),
    };
    let mut text = format!("**{} `{name}`**{detail}\n\n`{file}`", kind.noun());
    paragraph(&mut text, &summary(index, outline, name));
    Some(text)
}

fn paragraph(text: &mut String, more: &str) {
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}
