//! What an app needs of the place that it is deployed to.

use std::collections::BTreeMap;

use millrace_connectors::postgres::hyperdrive;
use millrace_core::app::{App, Auth, Bind, EnvPart, EnvTemplate, Execute, ExpectedKey, Part, Piece, Statement};

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
    for name in &app.env {
        needs.variables.entry(name.clone()).or_insert_with(|| "the app's `env`".into());
    }
    for adapter in &app.adapters {
        let who = format!("adapter `{}`", adapter.name);
        needs.template(&adapter.connection_string, &who);
        adapter.options.iter().for_each(|(_, option)| needs.template(option, &who));
        match (adapter.connector.as_str(), adapter.connection_string.0.as_slice()) {
            ("d1", [EnvPart::Text(text)]) if let Ok(binding) = millrace_connectors::d1_binding::binding(text) => {
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
    for tool in &app.tools {
        let who = format!("tool `{}`", tool.name);
        if let Some(auth) = &tool.auth {
            needs.auth(auth, &who);
        }
        if let Execute::Statement { statement, .. } = &tool.execute {
            needs.statement(statement, &who);
        }
        if tool.cache.is_some() {
            needs.caching.get_or_insert_with(|| tool.name.clone());
        }
    }
    needs
}

impl Needs {
    fn variable(&mut self, name: &str, who: &str) {
        self.variables.entry(name.to_owned()).or_insert_with(|| who.to_owned());
    }

    fn template(&mut self, template: &EnvTemplate, who: &str) {
        for part in &template.0 {
            if let EnvPart::Env(name) = part {
                self.variable(name, who);
            }
        }
    }

    fn auth(&mut self, auth: &Auth, who: &str) {
        match auth {
            Auth::AllowAll => {}
            Auth::ApiKey(policy) => {
                for key in &policy.keys {
                    let (ExpectedKey::Value(template) | ExpectedKey::Sha256(template)) = &key.expected;
                    self.template(template, who);
                }
            }
            Auth::Script { policy, .. } => {
                for (_, template) in &policy.templates {
                    self.template(template, who);
                }
            }
        }
    }

    fn statement(&mut self, statement: &Statement, who: &str) {
        for part in &statement.parts {
            match part {
                Part::Env(name) => self.variable(name, who),
                Part::Bind(Bind::Composed(pieces)) => {
                    for piece in pieces {
                        if let Piece::Env(name) = piece {
                            self.variable(name, who);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
