//! What an app needs of the place that it is deployed to.

use std::collections::BTreeMap;

use millrace_connectors::postgres::hyperdrive;
use millrace_core::app::{App, EnvPart, Holder, Named};

/// Variables and bindings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Environment variables by name, and who needs each: `adapter \`main\``, `tool \`x\``.
    pub(crate) variables: BTreeMap<String, String>,
    /// D1 bindings by name, and the adapter that needs each.
    pub(crate) d1: BTreeMap<String, String>,
    /// Hyperdrives by their binding, and the adapter that needs each.
    pub(crate) hyperdrives: BTreeMap<String, String>,
    /// Variables that may name a Hyperdrive, and the adapter that asks each.
    pub(crate) servers: BTreeMap<String, String>,
    /// A tool that caches.
    pub(crate) caching: Option<String>,
}

/// Finds out what an app needs. What a variable decides cannot be known here, the name of a binding among it.
pub(crate) fn of(app: &App) -> Needs {
    let mut needs = Needs::default();
    app.visit(&mut |holder, named| {
        if let Named::Variable(name) = named {
            needs.variables.entry(name.to_owned()).or_insert_with(|| holds(app, holder));
        }
    });
    for adapter in &app.adapters {
        let who = format!("adapter `{}`", adapter.name);
        match (adapter.connector.as_str(), adapter.connection_string.0.as_slice()) {
            ("d1", [EnvPart::Text(text)]) if let Ok(binding) = millrace_connectors::d1::binding(text) => {
                needs.d1.entry(binding.to_owned()).or_insert(who);
            }
            ("postgres", [EnvPart::Text(text)]) if let Some(Ok(binding)) = hyperdrive::binding(text) => {
                needs.hyperdrives.entry(binding.to_owned()).or_insert(who);
            }
            ("postgres", [EnvPart::Env(name)]) => {
                needs.servers.entry(name.clone()).or_insert(who);
            }
            _ => {}
        }
    }
    needs.caching = app.tools.iter().find(|tool| tool.cache.is_some()).map(|tool| tool.name.clone());
    needs
}

/// Who names a variable.
fn holds(app: &App, holder: Holder<'_>) -> String {
    match holder {
        Holder::App => "the app's `env`".to_owned(),
        Holder::Adapter(name) => format!("adapter `{name}`"),
        Holder::Tool(name) => format!("tool `{name}`"),
        Holder::Prompt(name) => format!("prompt `{name}`"),
        Holder::Resource(place) => {
            let uri = app.resources.get(place).map(|resource| resource.uri.literals.concat()).unwrap_or_default();
            format!("resource `{uri}`")
        }
    }
}
