//! `on_too_many` of a tool.

use millrace_core::app::{Execute, OnTooMany};

use super::reader::ToolReader;
use crate::compiler::Compiler;

/// Reads it. Only the result of one statement that only reads is cut: of a write all is told, or
/// nothing is done.
pub(super) fn read(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, execute: &Execute) -> OnTooMany {
    let document = reading.document;
    let Some(entry) = document.root.entry("on_too_many").filter(|entry| entry.value.text() == Some("cut")) else {
        return OnTooMany::Error;
    };
    let (message, help) = match (execute, execute.access()) {
        (Execute::Statement { .. }, Some(access)) if access.reads() => {
            compiler.origin(reading.name, "on_too_many", "cut", document.source.place(entry.value.range.start));
            return OnTooMany::Cut;
        }
        (Execute::Statement { .. }, _) => (
            "the statement writes, and the result of a write is not cut",
            "Remove `on_too_many`, and limit what the statement changes or returns.",
        ),
        (Execute::Transaction { .. }, _) => {
            ("the result of a transaction is not cut", "Remove `on_too_many`, and write a `LIMIT` in the steps that can return many rows.")
        }
        _ => ("`on_too_many` needs a `statement`", "Remove it: a handler decides itself how many rows it returns."),
    };
    compiler.error(document, entry.key_range.clone(), message, help);
    OnTooMany::Error
}
