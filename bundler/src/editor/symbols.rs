//! What a file consists of, for an outline of it.

use std::ops::Range;

use super::{AppIndex, OpenFile, hover::whole};
use crate::yaml::{Entry, Node};

/// The most parts of one level.
const MOST: usize = 2000;

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// A few words about it; may be empty.
    pub detail: String,
    /// The bytes of it.
    pub range: Range<usize>,
    /// The bytes of its name.
    pub name_range: Range<usize>,
    /// What it consists of.
    pub parts: Vec<Symbol>,
}

impl AppIndex {
    /// What a file consists of: its keys, and the inputs, fields, steps and tests in them.
    #[must_use]
    pub fn symbols(&self, file: OpenFile<'_>) -> Vec<Symbol> {
        if self.record_of(file.path).is_none() {
            return Vec::new();
        }
        let Some(document) = whole(file) else { return Vec::new() };
        document.root.entries().iter().take(MOST).map(|entry| symbol(entry, file.text)).collect()
    }
}

fn symbol(entry: &Entry, text: &str) -> Symbol {
    let has_parts = matches!(entry.key.as_str(), "inputs" | "arguments" | "schema" | "transaction" | "tests" | "options" | "policy");
    let parts = if has_parts { parts(&entry.value, text) } else { Vec::new() };
    let detail = entry.value.text_at("type").or_else(|| entry.value.text()).unwrap_or_default();
    let detail: String = detail.lines().next().unwrap_or_default().chars().take(60).collect();
    let range = entry.key_range.start..end_of(&entry.value, text).max(entry.key_range.end);
    Symbol { name: entry.key.clone(), detail, range, name_range: entry.key_range.clone(), parts }
}

fn parts(node: &Node, text: &str) -> Vec<Symbol> {
    let named = |item: &Node| {
        let name = item.at("name")?;
        let end = end_of(item, text);
        let start = item.range.start.min(name.range.start);
        Some(Symbol {
            name: name.text()?.to_owned(),
            detail: String::new(),
            range: start..end.max(name.range.end),
            name_range: name.range.clone(),
            parts: Vec::new(),
        })
    };
    let of_map = node.entries().iter().take(MOST).map(|entry| symbol(entry, text));
    of_map.chain(node.items().iter().take(MOST).filter_map(named)).collect()
}

/// Where a value ends, without the white space behind it.
fn end_of(node: &Node, text: &str) -> usize {
    let end = node.range.end.min(text.len());
    text.get(..end).map_or(end, |text| text.trim_end().len())
}
