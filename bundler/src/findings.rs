//! What was found so far: the diagnostics of one run.

use std::{ops::Range, path::Path};

use crate::{Diagnostic, Severity, source::Source};

/// The most diagnostics of one run. Placing one costs as much as its text is long; a file made to
/// be wrong must not take for ever.
const MAX: usize = 1000;

/// The longest message, in characters: names in it are the author's.
const MAX_MESSAGE: usize = 400;

/// The diagnostics of one run.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    /// How many came when there were [`MAX`] already.
    omitted: usize,
    omitted_errors: bool,
}

impl Findings {
    /// Notes a mistake. An empty `help` means none.
    pub(crate) fn error(&mut self, source: &Source, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.report(Severity::Error, source, range, message, help);
    }

    /// Notes something to look at. An empty `help` means none.
    pub(crate) fn warning(&mut self, source: &Source, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.report(Severity::Warning, source, range, message, help);
    }

    /// Notes something of either kind.
    pub(crate) fn report(
        &mut self,
        severity: Severity,
        source: &Source,
        range: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if self.is_full(severity) || is_of_package(severity, Path::new(&source.path)) {
            return;
        }
        let help = Some(help.into()).filter(|help| !help.is_empty());
        self.push(source.diagnostic(severity, range, message.into(), help));
    }

    /// Notes a finished diagnostic.
    pub(crate) fn push(&mut self, mut diagnostic: Diagnostic) {
        if self.is_full(diagnostic.severity) || is_of_package(diagnostic.severity, &diagnostic.file) {
            return;
        }
        diagnostic.message = cut(diagnostic.message);
        diagnostic.help = diagnostic.help.map(|help| cut(sentence(&help)));
        self.list.push(diagnostic);
    }

    /// Notes what was found elsewhere.
    pub(crate) fn append(&mut self, other: Self) {
        for found in other.list {
            if !self.is_full(found.severity) {
                self.list.push(found);
            }
        }
        self.omitted += other.omitted;
        self.omitted_errors |= other.omitted_errors;
    }

    /// Whether one of them is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.omitted_errors || self.list.iter().any(|found| found.severity == Severity::Error)
    }

    /// All of them, by file and place, each once.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by(|a, b| {
            (&a.file, a.line, a.column, a.severity, &a.message, &a.help).cmp(&(&b.file, b.line, b.column, b.severity, &b.message, &b.help))
        });
        self.list.dedup();
        if let (1.., Some(last)) = (self.omitted, self.list.last()) {
            let more = Diagnostic {
                severity: if self.omitted_errors { Severity::Error } else { Severity::Warning },
                length: 0,
                message: format!("{} more problems are not shown", self.omitted),
                help: Some("Fix these first.".into()),
                ..last.clone()
            };
            self.list.push(more);
        }
        self.list
    }

    /// Whether one more is too much; counts it then.
    pub(crate) fn is_full(&mut self, severity: Severity) -> bool {
        if self.list.len() < MAX {
            return false;
        }
        self.omitted += 1;
        self.omitted_errors |= severity == Severity::Error;
        true
    }
}

/// Whether it is a warning about a package: its author is somebody else, and nothing about it can
/// be changed here.
fn is_of_package(severity: Severity, file: &Path) -> bool {
    severity == Severity::Warning && file.components().any(|part| part.as_os_str() == "node_modules")
}

/// A remedy as a sentence, whatever its origin: a capital letter, a full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.trim().chars();
    let Some(first) = rest.next() else { return String::new() };
    let mut sentence: String = first.to_uppercase().chain(rest).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
