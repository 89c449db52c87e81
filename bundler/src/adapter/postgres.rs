//! What of `connector: postgres` depends on the host: Hyperdrive bindings and root certificates.

use millrace_core::app::{Adapter, EnvPart, EnvTemplate};

use crate::{
    compiler::Compiler,
    yaml::{Document, Node},
};

/// Who is trusted, which is the platform's to say in a Worker.
const ROOTS: [&str; 2] = ["ca_certificate", "sslrootcert"];

/// Refuses what the target cannot do. What a variable decides is not known here; the runtime refuses that.
pub(super) fn check(compiler: &mut Compiler<'_>, document: &Document, settings: &Node, adapter: &Adapter) {
    let is_worker = compiler.options.is_worker;
    if let (Some(binding), Some(node)) = (hyperdrive(&adapter.connection_string), settings.at("connection_string")) {
        let is_name = !binding.is_empty() && binding.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_worker {
            let message = format!("the Hyperdrive `{binding}` is a binding, which only a Worker has");
            let help = format!(
                "Name the database itself. For both, write `\"{{{{ env.NAME }}}}\"`, and set the variable to `hyperdrive:{binding}` in `[vars]` of \
                 `wrangler.toml`."
            );
            compiler.error(document, node.range.clone(), message, help);
        } else if !is_name {
            let message = format!("`{binding}` is no name of a Hyperdrive binding");
            compiler.error(document, node.range.clone(), message, "Write the binding's name as `wrangler.toml` has it: `hyperdrive:DB`.");
        }
    }
    if !is_worker {
        return;
    }
    for entry in settings.at("options").map(Node::entries).unwrap_or_default() {
        let written = adapter.options.iter().find(|(name, _)| *name == entry.key).and_then(|(_, value)| literal(value));
        let brings_its_own = written.is_some_and(|text| !text.is_empty() && text != "system");
        if brings_its_own && ROOTS.contains(&entry.key.as_str()) {
            let message = format!("a Worker trusts whom the platform trusts, and `{}` names somebody else", entry.key);
            let help = "Remove it, or give it to a Hyperdrive and connect through that: `connection_string: \"hyperdrive:DB\"`.";
            compiler.error(document, entry.key_range.clone(), message, help);
        }
    }
}

/// What stands behind `hyperdrive:`.
fn hyperdrive(connection_string: &EnvTemplate) -> Option<&str> {
    literal(connection_string)?.strip_prefix("hyperdrive:")
}

fn literal(template: &EnvTemplate) -> Option<&str> {
    match template.0.as_slice() {
        [EnvPart::Text(text)] => Some(text.trim()),
        _ => None,
    }
}
