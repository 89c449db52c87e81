//! `tenant` of a tool: statements that are not kept to the caller's tenant.

use millrace_core::app::Execute;

use super::reader::ToolReader;
use crate::{
    adapter::Adapters,
    compiler::Compiler,
    field::{Field, Record, Shape},
    yaml::Node,
};

/// `tenant` of a tool.
pub(super) static TOOL_TENANT: Record = Record {
    name: "tool_tenant",
    noun: "`tenant`",
    doc: "What of the tool is not kept to the caller's tenant.",
    fields: &[Field::new(
        "none",
        Shape::Text,
        "Why the statement and the scripts of this tool may see and change rows of every tenant. They are not judged then.",
    )
    .required()],
};

/// Whether the tool's statements may cross tenants.
pub(super) fn read(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>) -> bool {
    let document = reading.document;
    let Some(node) = document.root.at("tenant").and_then(|tenant| tenant.at("none")) else { return false };
    let reason = node.text().unwrap_or_default().trim();
    if reason.is_empty() {
        let help = "Write it for whoever reviews the app: `tenant: { none: \"A report over all tenants, for operators only\" }`.";
        compiler.error(document, node.range.clone(), "`tenant.none` has no reason", help);
    }
    compiler.origin(reading.name, "tenant.none", reason, document.source.place(node.range.start));
    true
}

/// Refuses an exemption from nothing: it would hide what is added later.
pub(super) fn check(compiler: &mut Compiler<'_>, reading: &ToolReader<'_>, execute: &Execute, adapters: &Adapters) {
    let document = reading.document;
    let Some(entry) = document.root.entry("tenant").filter(|tenant| tenant.value.at("none").and_then(Node::text).is_some()) else { return };
    let message = match execute.adapter() {
        Some(adapter) => match adapters.list.get(adapter as usize) {
            Some(adapter) if adapter.tenant.is_none() => format!("the adapter `{}` has no `tenant`", adapter.name),
            _ => return,
        },
        _ if adapters.list.iter().all(|adapter| adapter.tenant.is_none()) => "no adapter of the app has a `tenant`".to_owned(),
        _ => return,
    };
    compiler.error(document, entry.key_range.clone(), message, "Remove `tenant` here: nothing is kept to a tenant.");
}
