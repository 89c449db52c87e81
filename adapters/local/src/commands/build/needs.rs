//! What an app needs of the place that it is deployed to.

use std::collections::{BTreeMap, BTreeSet};

use millrace_catalogue::{BindingKind, Connector};
use millrace_core::app::{App, EnvPart, Holder, MiddlewareAction, STATE_KEY, TemplateReference, Tool, named_tools};

/// Variables and bindings.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// Environment variables and secrets by name, and who needs each: `adapter \`main\``,
    /// `tool \`x\``.
    pub(crate) variables: BTreeMap<String, String>,
    /// Variables that only the app's `env` names: scripts see those that are set.
    pub(crate) optional: BTreeSet<String>,
    /// Those of both that are read as variables, and who reads each: what gives secrets only does
    /// not set them.
    pub(crate) read_as_variables: BTreeMap<String, String>,
    /// D1 bindings by name, and the adapter that needs each.
    pub(crate) d1: BTreeMap<String, String>,
    /// Hyperdrives by their binding, and the adapter that needs each.
    pub(crate) hyperdrives: BTreeMap<String, String>,
    /// Variables that may name a Hyperdrive, and the connector and the adapter that ask each.
    pub(crate) servers: BTreeMap<String, (&'static Connector, String)>,
    /// The tools whose calls are counted, or recorded in the store of counters and records: ``the
    /// tools `a` and `b` ``.
    pub(crate) state: Option<String>,
    /// A tool that caches.
    pub(crate) caching: Option<String>,
    /// A tool whose calls are audited.
    pub(crate) audit: Option<String>,
}

/// Finds out what an app needs. What a variable decides cannot be known here, the name of a binding
/// among it.
pub(crate) fn of(app: &App) -> Needs {
    let mut needs = Needs::default();
    let mut listed = BTreeSet::new();
    app.visit(&mut |holder, named| {
        // Without another store, a secret is a variable.
        let (TemplateReference::Variable(name) | TemplateReference::Secret(name)) = named else { return };
        if matches!(named, TemplateReference::Variable(_)) {
            needs.read_as_variables.entry(name.to_owned()).or_insert_with(|| holds(app, holder));
        }
        match holder {
            Holder::App | Holder::Key { tool: None, .. } => drop(listed.insert(name.to_owned())),
            holder => drop(needs.variables.entry(name.to_owned()).or_insert_with(|| holds(app, holder))),
        }
    });
    if let Some(tool) = app.asking_tool() {
        for asked in [&mut needs.variables, &mut needs.read_as_variables] {
            asked.entry(STATE_KEY.to_owned()).or_insert_with(|| format!("tool `{}`", tool.name));
        }
    }
    needs.optional = listed.into_iter().filter(|name| !needs.variables.contains_key(name)).collect();
    for adapter in &app.adapters {
        let who = format!("adapter `{}`", adapter.name);
        let Some(connector) = millrace_catalogue::find(&adapter.connector) else { continue };
        let kind = connector.binding.map(|binding| binding.kind);
        for place in adapter.connection_strings() {
            match (kind, place.0.as_slice()) {
                (Some(kind), [EnvPart::Text(text)]) if let Some(Ok(binding)) = connector.binding_in(text) => {
                    let known = match kind {
                        BindingKind::D1 => &mut needs.d1,
                        BindingKind::Hyperdrive => &mut needs.hyperdrives,
                    };
                    known.entry(binding.to_owned()).or_insert_with(|| who.clone());
                }
                (Some(BindingKind::Hyperdrive), [EnvPart::Env(name)]) => {
                    needs.servers.entry(name.clone()).or_insert_with(|| (connector, who.clone()));
                }
                _ => {}
            }
        }
    }
    needs.state = named_tools(app.counted_tools());
    needs.caching = app.tools.iter().find(|tool| tool.cache.is_some()).map(|tool| tool.name.clone());
    needs.audit = app.tools.iter().find(|tool| is_audited(tool)).map(|tool| tool.name.clone());
    needs
}

fn is_audited(tool: &Tool) -> bool {
    tool.middleware.iter().any(|entry| matches!(entry.action, MiddlewareAction::Audit(_)))
}

/// Who names a variable.
fn holds(app: &App, holder: Holder<'_>) -> String {
    match holder {
        Holder::App | Holder::Key { tool: None, .. } => "the app's `env`".to_owned(),
        Holder::Adapter(name) => format!("adapter `{name}`"),
        Holder::Tool(name) | Holder::Key { tool: Some(name), .. } => format!("tool `{name}`"),
        Holder::Prompt(name) => format!("prompt `{name}`"),
        Holder::Resource(place) => {
            let uri = app.resources.get(place).map(|resource| resource.uri.literals.concat()).unwrap_or_default();
            format!("resource `{uri}`")
        }
    }
}
