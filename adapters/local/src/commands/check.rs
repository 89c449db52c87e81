//! `millrace check`: every mistake of an app.

use millrace_bundler::{Diagnostic, Severity};
use millrace_core::{Json, app::App};
use millrace_native::{cache::CacheChoice, isolate, wait_until::Tasks};
use serde_json::json;

use crate::{
    app::{self, count, summary},
    cli::{Check, Target},
    commands::build,
    output::{Failure, Outcome, note, print, print_json},
};

/// What a database answered.
struct Connection {
    adapter: String,
    connector: String,
    failure: Option<String>,
}

pub(super) fn run(arguments: &Check) -> Outcome {
    let report = match arguments.target {
        Some(Target::Worker) => build::worker::compile(&arguments.app),
        Some(Target::Lambda) => build::lambda::compile(&arguments.app),
        Some(Target::Local) | None => app::compile(&arguments.app),
    };
    let has_errors = report.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    if !arguments.json {
        app::show(&arguments.app, &report.diagnostics);
    }
    let connections = match &report.app {
        Some(app) if arguments.connect => connect(app, arguments)?,
        _ => Vec::new(),
    };
    let good = !has_errors && connections.iter().all(|connection| connection.failure.is_none());
    if arguments.json {
        print_json(&json!({
            "ok": good,
            "diagnostics": report.diagnostics.iter().map(diagnostic).collect::<Vec<_>>(),
            "connections": connections.iter().map(connection).collect::<Vec<_>>(),
        }))?;
    } else {
        for Connection { adapter, connector, failure } in &connections {
            match failure {
                None => print(format_args!("adapter `{adapter}` ({connector}): answers"))?,
                Some(failure) => note(format_args!("adapter `{adapter}` ({connector}): {failure}")),
            }
        }
        if let Some(app) = &report.app {
            print(format_args!("{}: {}", contents(app), summary(&report.diagnostics)))?;
        }
    }
    if good { Ok(()) } else { Err(Failure::Told) }
}

fn connect(app: &App, arguments: &Check) -> Outcome<Vec<Connection>> {
    let variables = app::variables(&arguments.app)?;
    let (compiled, base) = (app.clone(), arguments.app.clone());
    let ping_all = move || async move {
        let tasks = Tasks::new();
        let endpoint = app::endpoint(compiled, base, variables, &CacheChoice::Memory, &tasks);
        let mut connections = Vec::new();
        for (index, adapter) in endpoint.app().adapters.iter().enumerate() {
            let failure = endpoint.pipeline().ping(index).await.err().map(|error| match error.source {
                // Whoever checks is the operator: the database's own words are for them.
                Some(source) => format!("{} ({source})", error.message),
                None => error.message,
            });
            connections.push(Connection { adapter: adapter.name.clone(), connector: adapter.connector.clone(), failure });
        }
        tasks.drained().await;
        connections
    };
    isolate::run(ping_all).map_err(Failure::wrong)
}

fn contents(app: &App) -> String {
    let parts = [
        count(app.tools.len(), "tool"),
        count(app.adapters.len(), "adapter"),
        count(app.scripts.len(), "script"),
        count(app.prompts.len(), "prompt"),
        count(app.resources.len(), "resource"),
    ];
    format!("`{}` has {}", app.name, parts.join(", "))
}

fn diagnostic(diagnostic: &Diagnostic) -> Json {
    json!({
        "severity": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "file": diagnostic.file,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "length": diagnostic.length,
        "message": diagnostic.message,
        "help": diagnostic.help,
    })
}

fn connection(connection: &Connection) -> Json {
    json!({
        "adapter": connection.adapter,
        "connector": connection.connector,
        "ok": connection.failure.is_none(),
        "error": connection.failure,
    })
}
