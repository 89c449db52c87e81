//! Diagnostics for a terminal.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};

use crate::{Diagnostic, Severity, printable, source::Source, tree::MAX_YAML};

const WIDTH: usize = 100;

/// How many diagnostics that say the same are shown with their lines; of the others, only the
/// places are.
const SHOWN_IN_FULL: usize = 3;

/// The longest line that is shown, in bytes.
const MAX_LINE: usize = 500;

/// Renders diagnostics, each with its place, its line and its remedy, and counts them at the end.
pub(crate) fn render(folder: &Path, diagnostics: &[Diagnostic], colour: bool) -> String {
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_links(false).with_context_lines(1);
    let mut sources: BTreeMap<&Path, Option<Source>> = BTreeMap::new();
    let mut text = String::new();
    let mut same: BTreeMap<(Severity, &str, Option<&str>), Vec<&Diagnostic>> = BTreeMap::new();
    for diagnostic in diagnostics {
        same.entry((diagnostic.severity, &diagnostic.message, diagnostic.help.as_deref())).or_default().push(diagnostic);
    }
    for diagnostic in diagnostics {
        let all = same.get(&(diagnostic.severity, diagnostic.message.as_str(), diagnostic.help.as_deref())).map_or(&[][..], Vec::as_slice);
        let place = all.iter().position(|one| std::ptr::eq(*one, diagnostic)).unwrap_or(0);
        if all.len() > SHOWN_IN_FULL + 1 && place >= SHOWN_IN_FULL {
            if place == SHOWN_IN_FULL {
                elsewhere(&all[place..], &mut text);
            }
            continue;
        }
        let source = sources.entry(&diagnostic.file).or_insert_with(|| read(folder, &diagnostic.file));
        if !one(&handler, diagnostic, source.as_ref(), &mut text) {
            plain(diagnostic, &mut text);
        }
        text.push('\n');
    }
    text.push_str(&summary(diagnostics));
    text
}

/// Where else the same is said, one place a line.
fn elsewhere(diagnostics: &[&Diagnostic], text: &mut String) {
    // Writing to a string cannot fail.
    let Some(first) = diagnostics.first() else { return };
    let _ = writeln!(text, "  The same in {} more places: {}", diagnostics.len(), printable(&first.message));
    for Diagnostic { file, line, column, .. } in diagnostics {
        let _ = writeln!(text, "    {}:{line}:{column}", printable(&file.to_string_lossy()));
    }
    text.push('\n');
}

/// Renders one with its line; false where there is none to show.
fn one(handler: &GraphicalReportHandler, diagnostic: &Diagnostic, source: Option<&Source>, text: &mut String) -> bool {
    let Some(source) = source else { return false };
    let Some(line) = source.line(diagnostic.line.saturating_sub(1)).filter(|line| (1..=MAX_LINE).contains(&line.len())) else {
        return false;
    };
    let written = source.slice(line.clone());
    let byte = |column: usize| line.start + written.char_indices().nth(column).map_or(written.len(), |(at, _)| at);
    let start = byte(diagnostic.column.saturating_sub(1));
    let end = byte(diagnostic.column.saturating_sub(1) + diagnostic.length).max(start);
    let mut shown = MietteDiagnostic::new(printable(&diagnostic.message))
        .with_severity(match diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
        .with_label(LabeledSpan::underline((start, end - start)));
    if let Some(help) = &diagnostic.help {
        shown = shown.with_help(printable(help));
    }
    let report = Report::new(shown).with_source_code(NamedSource::new(&source.path, source.text.clone()));
    handler.render_report(text, report.as_ref()).is_ok()
}

/// Renders one without a line.
fn plain(diagnostic: &Diagnostic, text: &mut String) {
    let sign = match diagnostic.severity {
        Severity::Error => '×',
        Severity::Warning => '⚠',
    };
    let place = format!("{}:{}:{}", printable(&diagnostic.file.to_string_lossy()), diagnostic.line, diagnostic.column);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  {sign} {}\n   ╭─[{place}]\n   ╰────", printable(&diagnostic.message));
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(text, "  help: {}", printable(help));
    }
}

fn summary(diagnostics: &[Diagnostic]) -> String {
    let count = |severity| diagnostics.iter().filter(|found| found.severity == severity).count();
    let words = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        count => Some(format!("{count} {word}s")),
    };
    let parts: Vec<String> =
        [words(count(Severity::Error), "error"), words(count(Severity::Warning), "warning")].into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("{}\n", parts.join(", ")) }
}

fn read(folder: &Path, file: &Path) -> Option<Source> {
    // Its lines are secrets.
    if file == Path::new(".env") {
        return None;
    }
    let path = folder.join(file);
    let small = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_YAML);
    let text = small.then(|| fs::read_to_string(&path).ok()).flatten()?;
    // As many characters in each line as before, so that columns stay right.
    let text = printable(text.strip_prefix('\u{feff}').unwrap_or(&text));
    Some(Source::new(printable(&file.to_string_lossy()).into_owned(), text))
}
