//! A column that a tool searches for what its caller sends, and that no presenter shows: it is
//! found out a letter at a time.

use millrace_core::app::{Execute, PresentedField, Presenter, UnknownFields};

use super::reader::{AppParts, ToolReader};
use crate::{
    Problem, Severity,
    compiler::Compiler,
    presenter::{Presenters, is_redacted},
    statement::{self, Searched},
};

/// Warns of each such column. `presenter` is the one that the tool returns.
pub(super) fn check(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, execute: &Execute, app: &AppParts<'_>, presenter: &Presenter) {
    let document = reading.document;
    let presenters = &*app.presenters;
    let adapter = execute.adapter().and_then(|adapter| app.adapters.list.get(adapter as usize));
    let connector = adapter.and_then(|adapter| millrace_catalogue::find(&adapter.connector));
    let Some(dialect) = connector.and_then(|connector| connector.language.dialect()) else { return };
    if presenter.unknown == UnknownFields::Keep {
        return;
    }
    let (Some(node), Execute::Statement { .. }) = (document.root.at("statement"), execute) else { return };
    let Some(text) = node.text() else { return };
    // What another tool shows is no secret.
    let mut shown = Vec::new();
    for presenter in &presenters.list {
        presenter.fields.iter().filter(|field| !is_redacted(presenter, &field.name)).for_each(|field| names(presenters, field, &mut shown));
    }
    for Searched { column, input, range } in statement::searched(text, dialect, &shown) {
        let message = format!("the input `{input}` searches `{column}`, which no presenter shows: `{}` leaves it out", presenter.name);
        let help = "Whoever may call the tool can find its values out, a letter at a time. Take it out of the condition, or show it.";
        compiler.findings.problem(document, node, Problem { severity: Severity::Warning, range, message, help: Some(help.to_owned()) });
    }
}

/// The names of a field and of what is in it.
fn names<'p>(presenters: &'p Presenters, field: &'p PresentedField, found: &mut Vec<&'p str>) {
    found.push(&field.name);
    field.fields.iter().chain(field.items.as_deref()).for_each(|field| names(presenters, field, found));
    let embedded = field.returns.and_then(|place| presenters.list.get(place as usize));
    for field in embedded.iter().flat_map(|embedded| &embedded.fields) {
        names(presenters, field, found);
    }
}
