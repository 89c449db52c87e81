//! What was found so far: the diagnostics of one run.

use std::ops::Range;

use crate::{
    Diagnostic, Problem, Severity,
    source::Source,
    yaml::{Document, Node},
};

/// The diagnostics of one run.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
}

impl Findings {
    /// Notes a mistake. An empty `help` is none.
    pub(crate) fn error(&mut self, source: &Source, range: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.report(Severity::Error, source, range, message, help);
    }

    /// Notes something to look at. An empty `help` is none.
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
        let help = Some(help.into()).filter(|help| !help.is_empty());
        self.push(source.diagnostic(severity, range, message.into(), help));
    }

    /// Notes a problem inside the text of a scalar, at its place in the file.
    pub(crate) fn problem(&mut self, document: &Document, node: &Node, problem: Problem) {
        let range = node.locate(&document.source, problem.range);
        self.push(document.source.diagnostic(problem.severity, range, problem.message, problem.help));
    }

    /// Notes a finished diagnostic.
    pub(crate) fn push(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.help = diagnostic.help.map(|help| sentence(&help));
        self.list.push(diagnostic);
    }

    /// Whether one of them is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.list.iter().any(|found| found.severity == Severity::Error)
    }

    /// All of them, by file and place, each once.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by(|a, b| {
            (&a.file, a.line, a.column, a.severity, &a.message, &a.help).cmp(&(&b.file, b.line, b.column, b.severity, &b.message, &b.help))
        });
        self.list.dedup();
        self.list
    }
}

/// A remedy as a sentence, whoever wrote it: a capital letter, a full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.trim().chars();
    let Some(first) = rest.next() else { return String::new() };
    let mut sentence: String = first.to_uppercase().chain(rest).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}
