//! What a cursor stands in, also in a text that is no YAML at the moment.
//!
//! While somebody types, a file is broken most of the time. So a mark is put in place of the word
//! at the cursor, in several ways, until the text is YAML; in the tree that comes of it, the mark
//! tells the place. Where the file is broken elsewhere, only the lines that the cursor's line is
//! nested in are read.

use std::ops::Range;

use crate::{
    field::{Record, Shape},
    findings::Findings,
    source::Source,
    walk::{Child, Spot},
    yaml::{Data, Document},
};

/// What stands for the word at the cursor.
pub(super) const MARK: &str = "cursor0is0here";

/// What can be written at a cursor.
pub(super) enum Cursor {
    /// A key of a map.
    Key,
    /// A value, or a part of one: what of it is before the cursor's word.
    Value(String),
}

/// A text with the mark in it.
pub(super) struct Marked {
    document: Document,
    record: &'static Record,
}

/// The place of the mark.
pub(super) struct Found<'d> {
    pub(super) cursor: Cursor,
    /// The value that the mark is in, or the map whose key it is.
    pub(super) spot: Spot<'d>,
    /// Whether it is an element of a list.
    pub(super) is_element: bool,
}

/// The word around an offset: letters, digits and the characters of names and paths.
pub(super) fn word(text: &str, offset: usize, more: &[char]) -> Range<usize> {
    let belongs = |character: char| character.is_alphanumeric() || character == '_' || character == '-' || more.contains(&character);
    let start = text[..offset].char_indices().rev().take_while(|(_, c)| belongs(*c)).last().map_or(offset, |(at, _)| at);
    let end = text[offset..].char_indices().find(|(_, c)| !belongs(*c)).map_or(text.len(), |(at, _)| offset + at);
    start..end
}

/// Reads a text with the mark in place of some bytes: as a value, else as a key, else only the
/// lines around it.
pub(super) fn mark(text: &str, range: &Range<usize>, record: &'static Record) -> Option<Marked> {
    let before = &text[..range.start];
    let after = &text[range.end..];
    let rest_of_line = after.split('\n').next().unwrap_or_default();
    let as_key = format!("{MARK}: ");
    let attempt = |mark: &str, before: &str, after: &str| {
        let document = Document::parse(Source::new("", format!("{before}{mark}{after}")), &mut Findings::default())?;
        let marked = Marked { document, record };
        if marked.found().is_some() { Some(marked) } else { None }
    };
    let outline = ancestors(before);
    attempt(MARK, before, after)
        .or_else(|| attempt(&as_key, before, after))
        .or_else(|| attempt(MARK, &outline, rest_of_line))
        .or_else(|| attempt(&as_key, &outline, rest_of_line))
        .or_else(|| attempt(MARK, &outline, &closers(&outline)))
        .or_else(|| attempt(&as_key, &outline, &closers(&outline)))
}

/// The lines that the last line of a text is nested in, and that line.
fn ancestors(before: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut all = before.rsplit('\n');
    let last = all.next().unwrap_or_default();
    let mut indentation = indentation(last);
    lines.push(last);
    for line in all {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let own = self::indentation(line);
        // An element of a list may be as deep as its key.
        let is_outer = own < indentation
            || (own == indentation
                && !line.trim_start().starts_with('-')
                && lines.last().is_some_and(|inner| inner.trim_start().starts_with('-')));
        if is_outer {
            indentation = own;
            lines.push(line);
        }
    }
    lines.reverse();
    lines.join("\n")
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// What closes the maps, lists and quotes that are open on the last line of a text.
fn closers(text: &str) -> String {
    let line = text.rsplit('\n').next().unwrap_or_default();
    let mut open = Vec::new();
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(opened), _) if opened == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '{') => open.push('}'),
            (None, '[') => open.push(']'),
            (None, '}' | ']') => {
                open.pop();
            }
            _ => {}
        }
    }
    quote.into_iter().chain(open.into_iter().rev()).collect()
}

impl Marked {
    /// The file that was read.
    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// Where the mark is.
    pub(super) fn found(&self) -> Option<Found<'_>> {
        let file = Spot::file(&self.document.root, self.record);
        if self.document.root.text().is_some_and(|text| text.trim() == MARK) {
            return Some(Found { cursor: Cursor::Key, spot: file, is_element: false });
        }
        within(&file)
    }
}

fn within<'d>(spot: &Spot<'d>) -> Option<Found<'d>> {
    for Child { entry, spot: child, .. } in spot.children() {
        if entry.is_some_and(|entry| entry.key.contains(MARK)) {
            return Some(Found { cursor: Cursor::Key, spot: *spot, is_element: false });
        }
        if let Some(at) = child.node.text().and_then(|text| text.find(MARK)) {
            let text = child.node.text().unwrap_or_default();
            let is_alone = text.trim() == MARK;
            // What is meant to become a map is a word yet.
            if is_alone && is_map(child.shape) {
                return Some(Found { cursor: Cursor::Key, spot: child, is_element: false });
            }
            return Some(Found { cursor: Cursor::Value(text[..at].to_owned()), spot: child, is_element: entry.is_none() });
        }
        if !matches!(child.node.data, Data::Text(_))
            && let Some(found) = within(&child)
        {
            return Some(found);
        }
    }
    None
}

/// Whether a value can be a map and nothing else.
fn is_map(shape: Shape) -> bool {
    matches!(shape, Shape::Record(_) | Shape::Map(_))
}

/// Reads a text as it is, else only the lines around an offset; gives where the offset is then.
pub(super) fn read(text: &str, offset: usize) -> Option<(Document, usize)> {
    if let Some(document) = Document::parse(Source::new("", text), &mut Findings::default()) {
        return Some((document, offset));
    }
    let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
    let around = ancestors(&text[..end]);
    let offset = around.len().checked_sub(end - offset)?;
    let document = Document::parse(Source::new("", around), &mut Findings::default())?;
    Some((document, offset))
}

/// What stands at an offset of a file.
pub(super) enum At<'d> {
    /// A key, and the value that it has.
    Key(Child<'d>, Spot<'d>),
    /// A value.
    Value(Spot<'d>),
}

/// The innermost key or value at an offset.
pub(super) fn at<'d>(document: &'d Document, record: &'static Record, offset: usize) -> Option<At<'d>> {
    let mut spot = Spot::file(&document.root, record);
    loop {
        let children = spot.children();
        let starts = |child: &Child<'_>| child.entry.map_or(child.spot.node.range.start, |entry| entry.key_range.start);
        let inner = children.into_iter().filter(|child| starts(child) <= offset).max_by_key(starts);
        let Some(inner) = inner else {
            return Some(At::Value(spot));
        };
        if let Some(entry) = inner.entry
            && offset <= entry.key_range.end
        {
            return Some(At::Key(inner, spot));
        }
        spot = inner.spot;
    }
}
