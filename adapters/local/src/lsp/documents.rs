//! The texts that an editor has open, and places in them as the protocol counts: lines from 0, and
//! columns in units of UTF-16.

use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value as Json, json};

/// The longest text, in bytes; a longer one is left to the file on the disk.
pub(super) const LONGEST: usize = 16 << 20;

/// The most texts.
const MOST: usize = 2000;

/// A text that is open.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// The URI, as the editor writes it.
    pub(super) uri: String,
    /// The version of the text.
    pub(super) version: i64,
    /// The text.
    pub(super) text: Arc<str>,
    /// Whether its file was deleted since it was changed: it is no part of the app then.
    pub(super) is_deleted: bool,
}

/// The texts that are open, by the paths of their files.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<PathBuf, Document>);

impl Documents {
    pub(super) fn get(&self, path: &Path) -> Option<&Document> {
        self.0.get(path)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Document)> {
        self.0.iter()
    }

    /// Takes a text. False where it is too long, or there are too many.
    pub(super) fn open(&mut self, path: PathBuf, uri: String, version: i64, text: &str) -> bool {
        if text.len() > LONGEST || (self.0.len() >= MOST && !self.0.contains_key(&path)) {
            self.0.remove(&path);
            return false;
        }
        self.0.insert(path, Document { uri, version, text: text.into(), is_deleted: false });
        true
    }

    pub(super) fn close(&mut self, path: &Path) -> Option<Document> {
        self.0.remove(path)
    }

    /// Notes that the file of a text was deleted, or is there again.
    pub(super) fn set_deleted(&mut self, path: &Path, is_deleted: bool) {
        if let Some(document) = self.0.get_mut(path) {
            document.is_deleted = is_deleted;
        }
    }

    /// Changes a text. False where the change means nothing.
    pub(super) fn change(&mut self, path: &Path, version: i64, changes: &[Json]) -> bool {
        let Some(document) = self.0.get_mut(path) else { return false };
        let mut text = document.text.to_string();
        for change in changes {
            let Some(new) = change["text"].as_str() else { return false };
            match change.get("range").filter(|range| !range.is_null()) {
                None => new.clone_into(&mut text),
                Some(range) => {
                    let lines = Lines::new(&text);
                    let (Some(start), Some(end)) = (lines.offset(&range["start"]), lines.offset(&range["end"])) else { return false };
                    text.replace_range(start.min(end)..end.max(start), new);
                }
            }
            if text.len() > LONGEST {
                return false;
            }
        }
        *document = Document { version, text: text.into(), is_deleted: false, ..document.clone() };
        true
    }
}

/// A text, and where its lines begin.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, starts: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect() }
    }

    /// The bytes of a line, without its end.
    fn line(&self, index: usize) -> Option<Range<usize>> {
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        let line = &self.text[start..end];
        Some(start..start + line.strip_suffix('\r').unwrap_or(line).len())
    }

    /// The byte of a position: of one behind the end of a line the end of that line, of one behind
    /// the last line the end of the text, and of one within a character its start.
    pub(super) fn offset(&self, position: &Json) -> Option<usize> {
        let line = usize::try_from(position["line"].as_u64()?).ok()?;
        let wanted = usize::try_from(position["character"].as_u64()?).ok()?;
        let Some(range) = self.line(line) else { return Some(self.text.len()) };
        let mut units = 0;
        for (at, character) in self.text[range.clone()].char_indices() {
            units += character.len_utf16();
            if units > wanted {
                return Some(range.start + at);
            }
        }
        Some(range.end)
    }

    /// The position of a byte.
    pub(super) fn position(&self, offset: usize) -> Json {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        json!({ "line": line, "character": self.text[start..offset].encode_utf16().count() })
    }

    pub(super) fn range(&self, range: Range<usize>) -> Json {
        json!({ "start": self.position(range.start), "end": self.position(range.end) })
    }

    /// The range of what a diagnostic means: line and column in characters, both from 1.
    pub(super) fn of_characters(&self, line: usize, column: usize, length: usize) -> Json {
        let Some(range) = self.line(line.saturating_sub(1)) else {
            return json!({ "start": { "line": line.saturating_sub(1), "character": 0 }, "end": { "line": line.saturating_sub(1), "character": 0 } });
        };
        let text = &self.text[range.clone()];
        let byte = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
        let first = column.saturating_sub(1);
        self.range(range.start + byte(first)..range.start + byte(first.saturating_add(length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u64, character: u64) -> Json {
        json!({ "line": line, "character": character })
    }

    #[test]
    fn columns_are_units_of_utf_16() {
        let text = "a: \"😀ü\" # x\r\nb: 1\r\n";
        let lines = Lines::new(text);
        for (place, needle) in [(at(0, 6), "ü"), (at(0, 11), "x"), (at(1, 0), "b"), (at(1, 3), "1")] {
            assert_eq!(lines.offset(&place), text.find(needle), "{needle}");
            assert_eq!(lines.position(text.find(needle).unwrap()), place, "{needle}");
        }
        assert_eq!(lines.offset(&at(0, 5)), text.find('😀'), "within a character");
        assert_eq!(lines.offset(&at(0, 99)), text.find('\r'), "behind a line");
        assert_eq!(lines.offset(&at(9, 9)), Some(text.len()), "behind the text");
        assert_eq!(lines.of_characters(1, 5, 1)["end"], at(0, 6));
        assert_eq!(lines.of_characters(9, 5, 1)["start"], at(8, 0));
    }

    #[test]
    fn texts_change_in_parts() {
        let mut documents = Documents::default();
        let path = PathBuf::from("/a.yaml");
        assert!(documents.open(path.clone(), "file:///a.yaml".to_owned(), 1, "é: 1\nb: 2\n"));
        let replace = |start: Json, end: Json, text: &str| json!({ "range": { "start": start, "end": end }, "text": text });
        assert!(documents.change(
            &path,
            2,
            &[replace(at(0, 3), at(0, 4), "😀"), replace(at(0, 5), at(1, 1), ""), replace(at(7, 0), at(8, 0), "z")]
        ));
        let document = documents.get(&path).unwrap();
        assert_eq!((&*document.text, document.version), ("é: 😀: 2\nz", 2));
        assert!(!documents.change(&path, 3, &[json!({ "range": 1, "text": "x" })]) && !documents.change(&path, 3, &[json!({})]));
        assert!(documents.change(&path, 4, &[json!({ "text": "whole" })]));
        assert_eq!(&*documents.get(&path).unwrap().text, "whole");
    }
}
