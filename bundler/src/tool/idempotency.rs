//! `idempotency` of a tool.

use millrace_catalogue::find;
use millrace_core::app::{Adapter, Execute, Idempotency, Input, Root, TemplatePart};

use super::reader::ToolReader;
use crate::{
    adapter::Adapters,
    compiler::{Compiler, Located},
    field::{Field, Record, Shape, duration_ms},
    scope::{IN_CALL, PathScope},
};

/// `idempotency`
pub(crate) static IDEMPOTENCY: Record = Record {
    name: "idempotency",
    noun: "`idempotency`",
    doc: "What makes a call the same as an earlier one of the same caller, whose answer it then gets. Nothing is done a second time.",
    fields: &[
        Field::new(
            "key",
            Shape::Text,
            "What the same calls have in common, with placeholders: `{{ inputs.order_id }}`. A call whose key is empty is refused.",
        )
        .sees(IN_CALL)
        .required(),
        Field::new("ttl", Shape::Duration, "How long a call is remembered: `1s` to `30d`.").default("24h"),
    ],
};

/// How long a call is remembered where nothing is said, in seconds.
const DEFAULT_TTL_S: u32 = 86_400;
/// The longest time, in seconds.
const MOST_TTL_S: u32 = 30 * 86_400;

/// Reads it. `None` where there is none, or it is wrong, which has been said.
pub(super) fn read(
    compiler: &mut Compiler<'_>,
    reading: &ToolReader<'_>,
    scope: &PathScope,
    inputs: &[Input],
    execute: &Execute,
    kind: &str,
    adapters: &Adapters,
) -> Option<Idempotency> {
    let document = reading.document;
    let entry = document.root.entry("idempotency")?;
    let node = &entry.value;
    let key_node = node.at("key")?;
    let key = compiler.message(document, key_node, scope);
    let sources: Vec<_> =
        key.0.iter().filter_map(|part| if let TemplatePart::Source(source) = part { Some(source) } else { None }).collect();
    // A placeholder that is wrong is not there any more, and has been said.
    if sources.is_empty() && !key_node.text().is_some_and(|text| text.contains("{{")) {
        let help = "Name the input that tells one call from another: `{{ inputs.order_id }}`.";
        compiler.error(document, key_node.range.clone(), "every call would have the same key", help);
    }
    for source in sources.iter().filter(|source| source.root == Root::Inputs) {
        let input = source.path.first().and_then(|name| inputs.iter().find(|input| input.name == *name));
        if let Some(input) = input.filter(|input| input.default.is_some()) {
            let message = format!("calls without `{}` would all have the same key, because it has a default", input.name);
            compiler.error(document, key_node.range.clone(), message, "Remove the default, or make the key of another input.");
        }
    }
    let range = entry.key_range.clone();
    match (execute.adapter(), execute.access()) {
        (Some(_), Some(access)) if access.reads() => {
            let what = if matches!(execute, Execute::Transaction { .. }) { "the transaction" } else { "the statement" };
            let help = "A call that changes nothing may be sent again anyway. Remove `idempotency`.";
            compiler.error(document, range, format!("{what} only reads, so there is nothing that could happen twice"), help);
        }
        (Some(adapter), _) => {
            if let Some((message, help)) = adapters.list.get(adapter as usize).and_then(|adapter| without_records(adapter, execute)) {
                compiler.error(document, range, message, help);
            }
        }
        _ if kind == "query" => {
            let help = "Remove `idempotency`, or `kind: query`.";
            compiler.error(document, range, "`kind: query` says that the tool changes nothing, so nothing could happen twice", help);
        }
        _ => {}
    }
    let ttl = match node.at("ttl") {
        None => Located::default(DEFAULT_TTL_S),
        Some(ttl) => {
            let ms = ttl.text().and_then(duration_ms)?;
            let seconds = ms / 1000;
            if ms % 1000 != 0 || !(1..=MOST_TTL_S).contains(&seconds) {
                compiler.error(document, ttl.range.clone(), "`ttl` must be `1s` to `30d`, in whole seconds", "The default is `24h`.");
            }
            Located::at(seconds, document, ttl)
        }
    };
    compiler.origin(reading.name, "idempotency.ttl", format!("{} s", ttl.value), ttl.place);
    Some(Idempotency { key, ttl_s: ttl.value })
}

/// Why an adapter cannot tell whether a call was made before, and what helps.
fn without_records(adapter: &Adapter, execute: &Execute) -> Option<(String, &'static str)> {
    // An API that knows a call which is sent again keeps its own record of it.
    if adapter.options.iter().any(|(name, _)| name == "idempotency_header") {
        return None;
    }
    let connector = find(&adapter.connector).filter(|connector| !connector.keeps_call_records)?;
    let message =
        format!("the connector `{}` of the adapter `{}` cannot keep the records that `idempotency` needs", connector.name, adapter.name);
    let help = match execute.asks_api() {
        true => "Name the header field by which the API knows a call, `idempotency_header` of the adapter, or remove `idempotency`.",
        false => "Use an adapter of another connector, or run the statement in a `handler`.",
    };
    Some((message, help))
}
