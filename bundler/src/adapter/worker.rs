//! What of an adapter depends on whether the target is a Worker: bindings, and root certificates.

use millrace_catalogue::{BindingKind, Connector, MYSQL, NO_HYPERDRIVE, names_hyperdrive};
use millrace_core::app::{Adapter, EnvPart, EnvTemplate};

use crate::{
    compiler::Compiler,
    yaml::{Document, Node},
};

/// Refuses what the target cannot do. What a variable decides is not known here; the runtime
/// refuses that.
pub(super) fn check(compiler: &mut Compiler<'_>, document: &Document, settings: &Node, adapter: &Adapter, connector: &Connector) {
    let is_worker = compiler.options.is_worker;
    let places = adapter.connection_strings();
    if *connector.name == *MYSQL.name
        && places.iter().filter_map(|place| literal(place)).any(names_hyperdrive)
        && let Some(node) = settings.at("connection_string")
    {
        let message = "connector `mysql` cannot connect through a Hyperdrive";
        compiler.error(document, node.range.clone(), message, format!("{NO_HYPERDRIVE}."));
    }
    let bound = |place| literal(place).and_then(|text| Some((connector.binding?, connector.binding_in(text)?)));
    let mut bound = places.iter().filter_map(bound);
    // One that is wrong is enough.
    let first = bound.next();
    let bound = first.map(|first| bound.find(|(_, name)| name.is_err()).unwrap_or(first));
    if let (Some((kind, name)), Some(node)) = (bound, settings.at("connection_string"))
        && kind.kind == BindingKind::Hyperdrive
    {
        let (Ok(binding) | Err(binding)) = name;
        if !is_worker {
            let message = format!("the Hyperdrive `{binding}` is a binding, which only a Worker has");
            let help = format!(
                "Name the database itself. For both, write `\"{{{{ env.NAME }}}}\"`, and set the variable to `{}{binding}` in `[vars]` of \
                 `wrangler.toml`.",
                kind.prefix
            );
            compiler.error(document, node.range.clone(), message, help);
        } else if name.is_err() {
            let message = format!("`{binding}` is not a valid name for a Hyperdrive binding");
            let help = format!("Write the binding's name as `wrangler.toml` has it: `{}DB`.", kind.prefix);
            compiler.error(document, node.range.clone(), message, help);
        }
    }
    if !is_worker {
        return;
    }
    for entry in settings.at("options").map(Node::entries).unwrap_or_default() {
        let written = adapter.options.iter().find(|(name, _)| *name == entry.key).and_then(|(_, value)| literal(value));
        let brings_its_own = written.is_some_and(|text| !text.is_empty() && text != "system");
        if brings_its_own && connector.trust_options.contains(&entry.key.as_str()) {
            let message = format!("a Worker trusts only what the platform trusts, and `{}` names something else", entry.key);
            let help = match connector.binding {
                Some(_) => "Remove it, or give it to a Hyperdrive and connect through that: `connection_string: \"hyperdrive:DB\"`.",
                None => "Remove it, and give the server a certificate that browsers trust, for the name that the connection string has.",
            };
            compiler.error(document, entry.key_range.clone(), message, help);
        }
    }
}

fn literal(template: &EnvTemplate) -> Option<&str> {
    match template.0.as_slice() {
        [EnvPart::Text(text)] => Some(text.trim()),
        _ => None,
    }
}
