//! `scan` of a tool: statements that may read all rows of a large table.

use millrace_catalogue::find;
use millrace_core::app::Execute;

use super::reader::ToolReader;
use crate::{
    adapter::Adapters,
    compiler::Compiler,
    field::{Field, Record, Shape},
};

/// `scan` of a tool.
pub(super) static SCAN: Record = Record {
    name: "scan",
    noun: "`scan`",
    doc: "Whether the statements of the tool may read all rows of a large table.",
    fields: &[Field::new(
        "allowed",
        Shape::Text,
        "Why the statements may read all rows of a large table, which `millrace check --connect` rejects otherwise.",
    )
    .required()],
};

/// Reads it. What it allows is among the origins, for `millrace check --connect`.
pub(super) fn read(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, execute: &Execute, adapters: &Adapters) {
    let document = reading.document;
    let Some(entry) = document.root.entry("scan") else { return };
    let Some(node) = entry.value.at("allowed") else { return };
    let reason = node.text().unwrap_or_default().trim();
    if reason.is_empty() {
        let help = "Write it for whoever reviews the app: `scan: { allowed: \"The monthly report reads all orders\" }`.";
        compiler.error(document, node.range.clone(), "`scan.allowed` has no reason", help);
    }
    let adapter = execute.adapter().and_then(|adapter| adapters.list.get(adapter as usize));
    let dialect = adapter.and_then(|adapter| find(&adapter.connector)).and_then(|connector| connector.language.dialect());
    if dialect.is_none_or(|dialect| dialect.facts().plans.is_none()) {
        let message = "`scan` has no effect: nobody is asked how the tool's database runs it";
        compiler.error(
            document,
            entry.key_range.clone(),
            message,
            "Remove it here; `scan` is for tools with a statement of SQLite, PostgreSQL or MySQL.",
        );
    }
    compiler.origin(reading.name, "scan.allowed", reason, document.source.place(node.range.start));
}
