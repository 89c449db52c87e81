//! `databases` of an adapter: what the caller's principal may name in the connection.

use std::collections::BTreeSet;

use millrace_core::app::{Adapter, Databases, EnvPart, Source};

use crate::{
    compiler::Compiler,
    yaml::{Document, Node},
};

/// The most databases of one adapter.
const MOST: usize = 1000;
/// The longest name, in bytes.
const LONGEST: usize = 63;

/// Reads it. Nothing of a caller stands in a connection unless it is listed here.
pub(super) fn read(compiler: &mut Compiler<'_>, document: &Document, settings: &Node, adapter: &Adapter) -> Option<Databases> {
    let listed = document.root.entry("databases");
    let mut choice: Option<&Source> = None;
    let templates = std::iter::once(&adapter.connection_string).chain(adapter.options.iter().map(|(_, option)| option));
    for part in templates.flat_map(|template| &template.0) {
        let EnvPart::Caller(source) = part else { continue };
        match choice {
            Some(first) if first != source => {
                let range = settings.at("connection_string").map_or(0..0, |node| node.range.clone());
                let help = "Name one value of the caller: a claim that has both, for example.";
                compiler.error(document, range, format!("the connection depends on both `{first}` and `{source}`"), help);
                return None;
            }
            _ => choice = Some(source),
        }
    }
    let (Some(listed), Some(choice)) = (listed, choice) else {
        match (listed, choice) {
            (Some(listed), None) if are_understood(document, settings, adapter) => {
                let help = "Name the caller's value in `connection_string` or in an option: `…/shop_{{ auth.claims.org }}`.";
                compiler.error(
                    document,
                    listed.key_range.clone(),
                    "nothing in the connection depends on the caller, as `databases` needs it",
                    help,
                );
            }
            (None, Some(choice)) => {
                let node = settings.at("connection_string").filter(|_| names_caller(&adapter.connection_string.0));
                let range = node.or_else(|| settings.at("options")).map_or(0..0, |node| node.range.clone());
                let help = "List the values that it may have: `databases: [north, south]`. A caller with another one is refused.";
                compiler.error(document, range, format!("the connection depends on `{choice}`, which a caller could choose"), help);
            }
            _ => {}
        }
        return None;
    };
    let mut names = BTreeSet::new();
    let nodes = listed.value.items();
    if nodes.is_empty() {
        compiler.error(
            document,
            listed.value.range.clone(),
            "`databases` must have at least 1 element",
            "List the values that callers may have.",
        );
    }
    if let Some(beyond) = nodes.get(MOST) {
        let help = "Divide them among several adapters.";
        compiler.error(document, beyond.range.clone(), format!("`databases` has more than {MOST} elements"), help);
    }
    for node in nodes {
        // What is of a wrong type has been said.
        let Some(name) = node.written(&document.source) else { continue };
        if !is_valid(&name) {
            let help = format!(
                "It becomes part of the connection, so it has letters, digits, `_`, `-` and single dots, begins with a letter or a digit, and has at most {LONGEST} characters."
            );
            compiler.error(document, node.range.clone(), format!("`{name}` cannot be the name of a database here"), help);
        } else if !names.insert(name.clone()) {
            compiler.error(document, node.range.clone(), format!("`databases` has `{name}` twice"), "Remove one.");
        }
    }
    Some(Databases { choice: choice.clone(), names: names.into_iter().collect() })
}

/// Whether every placeholder of the connection became a part of it; what is wrong with others has
/// been said.
fn are_understood(document: &Document, settings: &Node, adapter: &Adapter) -> bool {
    let options = settings.at("options").map(Node::entries).unwrap_or_default().iter().map(|entry| &entry.value);
    let nodes = settings.at("connection_string").into_iter().chain(options);
    let written: usize = nodes.filter_map(|node| node.written(&document.source)).map(|text| text.matches("{{").count()).sum();
    let templates = std::iter::once(&adapter.connection_string).chain(adapter.options.iter().map(|(_, option)| option));
    written <= templates.flat_map(|template| &template.0).filter(|part| !matches!(part, EnvPart::Text(_))).count()
}

fn names_caller(parts: &[EnvPart]) -> bool {
    parts.iter().any(|part| matches!(part, EnvPart::Caller(_)))
}

/// Nothing that has a meaning in a URL, a path or an option.
fn is_valid(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    name.len() <= LONGEST
        && name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && name.bytes().all(is_plain)
        && !name.contains("..")
        && !name.ends_with('.')
}
