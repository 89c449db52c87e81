//! Byte offsets into lines and columns.

use std::path::Path;

use crate::{Diagnostic, Severity};

/// What a diagnostic of the linker says about one stretch of a file.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The first byte.
    pub(super) start: usize,
    /// The byte after the last.
    pub(super) end: usize,
    /// One sentence.
    pub(super) message: String,
    /// The remedy.
    pub(super) help: Option<String>,
}

impl Finding {
    /// A finding at a span of the syntax tree.
    pub(super) fn new(span: oxc::span::Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { start: span.start as usize, end: span.end as usize, message: message.into(), help: Some(help.into()) }
    }

    /// Places the finding in its file.
    pub(super) fn place(self, file: &Path, source: &str) -> Diagnostic {
        let (line, column) = line_and_column(source, self.start);
        let length = source.get(self.start..self.end).map_or(0, |text| text.lines().next().unwrap_or("").chars().count());
        Diagnostic { severity: Severity::Error, file: file.to_path_buf(), line, column, length, message: self.message, help: self.help }
    }
}

/// A diagnostic about a whole file.
pub(super) fn whole_file(file: &Path, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        file: file.to_path_buf(),
        line: 1,
        column: 1,
        length: 0,
        message: message.into(),
        help: Some(help.into()),
    }
}

/// Line and column, both from 1, the column in characters.
pub(super) fn line_and_column(source: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &source[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}
