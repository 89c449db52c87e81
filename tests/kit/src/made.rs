//! Parts of apps, each with nothing but what has to be there.

use millrace_core::app::{Adapter, App, Authorization, BatchLimits, EnvPart, EnvTemplate, Identity, Input, InputKind, Server};

/// An app without anything, version 1.
#[must_use]
pub fn app(name: &str) -> App {
    App {
        name: name.to_owned(),
        version: "1".to_owned(),
        identity: Identity::default(),
        instructions: None,
        server: Server {
            port: 1,
            port_variable: None,
            path: "/mcp".to_owned(),
            cors_origins: Vec::new(),
            hosts: Vec::new(),
            body_limit: 1 << 20,
        },
        authorization: Authorization::default(),
        feature_auth: None,
        batch: BatchLimits::default(),
        env: Vec::new(),
        secrets: Vec::new(),
        required: Vec::new(),
        fetch_allow: Vec::new(),
        telemetry: true,
        adapters: Vec::new(),
        scripts: Vec::new(),
        logs: false,
        epochs: Vec::new(),
        presenters: Vec::new(),
        tools: Vec::new(),
        prompts: Vec::new(),
        resources: Vec::new(),
        skills: Vec::new(),
    }
}

/// An adapter; its connection string is text.
#[must_use]
pub fn adapter(name: &str, connector: &str, connection_string: &str) -> Adapter {
    Adapter {
        name: name.to_owned(),
        connector: connector.to_owned(),
        connection_string: EnvTemplate(vec![EnvPart::Text(connection_string.to_owned())]),
        options: Vec::new(),
        timeout_ms: 2_000,
        max_rows: 100,
        read_only: false,
        seed: None,
        session: Vec::new(),
        tenant: None,
        databases: None,
    }
}

/// An input that has to be given.
#[must_use]
pub fn input(name: &str, kind: InputKind) -> Input {
    Input {
        name: name.to_owned(),
        kind,
        optional: false,
        nullable: false,
        default: None,
        allowed: Vec::new(),
        min: None,
        max: None,
        pattern: None,
        format: None,
        items: None,
        fields: Vec::new(),
        header: None,
    }
}
