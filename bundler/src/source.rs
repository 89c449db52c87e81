//! A text file of the app, and places in it.

use std::{ops::Range, path::PathBuf};

use crate::{Diagnostic, Severity};

/// A text file of the app.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its path below the app's folder, with slashes.
    pub(crate) path: String,
    /// What it says, without a byte order mark.
    pub(crate) text: String,
    line_starts: Vec<usize>,
}

impl Source {
    /// Takes a file's text.
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { path: path.into(), text, line_starts }
    }

    /// Line and column of a byte, both from 1; the column counts characters.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let offset = floor(&self.text, offset);
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line, self.text[start..offset].chars().count() + 1)
    }

    /// `app/tools/x/config.yaml:3:5`
    pub(crate) fn place(&self, offset: usize) -> String {
        let (line, column) = self.position(offset);
        format!("{}:{line}:{column}", self.path)
    }

    /// The bytes of a line, from 0, without its end.
    pub(crate) fn line(&self, index: usize) -> Option<Range<usize>> {
        let start = *self.line_starts.get(index)?;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        let text = &self.text[start..end];
        Some(start..start + text.strip_suffix('\r').unwrap_or(text).len())
    }

    /// The index, from 0, of the line that a byte is in.
    pub(crate) fn line_index(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The text of a range.
    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// A diagnostic at a range. Only the part on the first line is marked.
    pub(crate) fn diagnostic(&self, severity: Severity, range: Range<usize>, message: String, help: Option<String>) -> Diagnostic {
        let start = floor(&self.text, range.start);
        let end = floor(&self.text, range.end.max(start));
        let (line, column) = self.position(start);
        let length = self.text[start..end].lines().next().map_or(0, |text| text.trim_end().chars().count());
        Diagnostic { severity, file: PathBuf::from(&self.path), line, column, length, message, help }
    }
}

/// The character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_not_bytes() {
        let source = Source::new("a", "é: 1\r\nüü: x\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(2), (1, 2));
        assert_eq!(source.position(source.text.find('x').unwrap()), (2, 5));
        assert_eq!(source.position(999), (3, 1));
        assert_eq!(source.slice(source.line(0).unwrap()), "é: 1");
        assert_eq!(source.line(2), Some(source.text.len()..source.text.len()));
        assert_eq!(source.line(3), None);
    }

    #[test]
    fn marks_the_first_line_only() {
        let source = Source::new("a", "one\ntwo\n");
        let found = source.diagnostic(Severity::Error, 1..7, String::new(), None);
        assert_eq!((found.line, found.column, found.length), (1, 2, 2));
    }
}
