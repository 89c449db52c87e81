//! `millrace check`: every mistake of an app, and how long its answers can be.

use std::collections::BTreeMap;

use millrace_bundler::{AnswerSize, ListSize, Origin, Severity, Sizes, tokens};
use millrace_core::{
    Error, Json,
    app::{App, Execute},
};
use millrace_native::{cache::CacheChoice, isolate, wait_until::Tasks};
use serde_json::json;

use crate::{
    app::{self, count, summary},
    cli::{Check, Target},
    commands::build,
    output::{CommandError, CommandResult, note, print, print_json},
};

/// What a database answered.
struct Connection {
    adapter: String,
    connector: String,
    failure: Option<String>,
}

/// What a database said of a tool's statement.
struct RejectedStatement {
    tool: String,
    /// `app/tools/x/config.yaml:3:6`
    place: String,
    problem: String,
}

/// What databases said.
#[derive(Default)]
struct ConnectReport {
    connections: Vec<Connection>,
    refused: Vec<RejectedStatement>,
}

pub(super) fn run(arguments: &Check) -> CommandResult {
    let report = match arguments.target {
        Some(Target::Worker) => build::worker::compile(&arguments.app),
        Some(Target::Lambda) => build::lambda::compile(&arguments.app),
        Some(Target::Mcpb) => build::mcpb::compile(&arguments.app),
        Some(Target::Local | Target::Registry) | None => app::compile(&arguments.app),
    };
    let has_errors = report.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    if !arguments.json {
        app::show(&arguments.app, &report.diagnostics);
    }
    let ConnectReport { connections, refused } = match &report.app {
        Some(app) if arguments.connect => connect(app, &report.origins, arguments)?,
        _ => ConnectReport::default(),
    };
    let silent = connections.iter().filter(|connection| connection.failure.is_some()).count();
    let good = !has_errors && silent == 0 && refused.is_empty();
    if arguments.json {
        print_json(&json!({
            "ok": good,
            "diagnostics": app::diagnostics_json(&report.diagnostics),
            "connections": connections.iter().map(connection).collect::<Vec<_>>(),
            "sizes": report.sizes.as_ref().map(sizes),
            "statements": refused.iter().map(|refused| json!({ "tool": refused.tool, "place": refused.place, "error": refused.problem })).collect::<Vec<_>>(),
        }))?;
    } else {
        if let Some(sizes) = &report.sizes {
            print_sizes(sizes)?;
        }
        for Connection { adapter, connector, failure } in &connections {
            match failure {
                None => print(format_args!("adapter `{adapter}` ({connector}): connected"))?,
                Some(failure) => note(format_args!("adapter `{adapter}` ({connector}): {failure}")),
            }
        }
        for RejectedStatement { tool, place, problem } in &refused {
            note(format_args!("{place}: the database does not take the statement of the tool `{tool}`: {problem}"));
        }
        if let Some(app) = &report.app {
            let mut said = summary(&report.diagnostics);
            if silent > 0 {
                said.push_str(&format!(", {} could not be reached", count(silent, "database")));
            }
            if !refused.is_empty() {
                said.push_str(&format!(", {} that a database does not take", count(refused.len(), "statement")));
            }
            print(format_args!("{}: {said}", contents(app)))?;
        }
    }
    if good { Ok(()) } else { Err(CommandError::Told) }
}

fn connect(app: &App, origins: &[Origin], arguments: &Check) -> CommandResult<ConnectReport> {
    let variables = app::variables(&arguments.app)?;
    let (compiled, base) = (app.clone(), arguments.app.clone());
    let places: BTreeMap<String, String> =
        origins.iter().filter(|origin| origin.setting == "use").map(|origin| (origin.tool.clone(), origin.place.clone())).collect();
    let ping_all = move || async move {
        let tasks = Tasks::new();
        let endpoint = app::endpoint(compiled, base, variables, &CacheChoice::Memory, &tasks);
        let mut answers = ConnectReport::default();
        for (index, adapter) in endpoint.app().adapters.iter().enumerate() {
            let failure = endpoint.pipeline().ping(index).await.err().map(in_full);
            answers.connections.push(Connection { adapter: adapter.name.clone(), connector: adapter.connector.clone(), failure });
        }
        for (index, tool) in endpoint.app().tools.iter().enumerate() {
            let Execute::Statement { adapter, .. } = &tool.execute else { continue };
            if answers.connections.get(*adapter as usize).is_some_and(|connection| connection.failure.is_some()) {
                continue;
            }
            if let Some(Err(error)) = endpoint.pipeline().rehearse(index).await {
                let place = places.get(&tool.name).cloned().unwrap_or_default();
                answers.refused.push(RejectedStatement { tool: tool.name.clone(), place, problem: in_full(error) });
            }
        }
        tasks.drained().await;
        answers
    };
    isolate::run(ping_all).map_err(CommandError::wrong)
}

/// What a model may have to read. A token is taken for four bytes.
fn print_sizes(sizes: &Sizes) -> CommandResult {
    let tokens_of = |bytes: u64| format!("{bytes} bytes, about {} tokens", tokens(bytes));
    match sizes.lists.as_slice() {
        [newest, older] if newest.bytes != older.bytes => {
            print(format_args!("`tools/list`: {}; before {}: {}", tokens_of(newest.bytes), newest.revision, tokens_of(older.bytes)))?;
        }
        lists => {
            if let Some(list) = lists.first() {
                print(format_args!("`tools/list`: {}", tokens_of(list.bytes)))?;
            }
        }
    }
    if sizes.answers.is_empty() {
        return Ok(());
    }
    let mut lines = vec!["The longest answers, in bytes and about as many tokens:".to_owned()];
    let width = sizes.answers.iter().map(|answer| answer.tool.chars().count()).max().unwrap_or(0).min(48);
    for AnswerSize { tool, bytes, open } in &sizes.answers {
        let limit = open.as_ref().map_or_else(String::new, |open| format!("  `limits.output`: {open}"));
        lines.push(format!("  {tool:width$}  {bytes:>8}  {:>7}{limit}", tokens(*bytes)));
    }
    print(lines.join("\n"))
}

fn sizes(sizes: &Sizes) -> Json {
    let list = |list: &ListSize| json!({ "revision": list.revision, "bytes": list.bytes, "tokens": tokens(list.bytes) });
    let answer = |answer: &AnswerSize| {
        json!({
            "tool": answer.tool,
            "bytes": answer.bytes,
            "tokens": tokens(answer.bytes),
            "limit": if answer.open.is_some() { "limits.output" } else { "output" },
            "reason": answer.open,
        })
    };
    json!({
        "lists": sizes.lists.iter().map(list).collect::<Vec<_>>(),
        "answers": sizes.answers.iter().map(answer).collect::<Vec<_>>(),
    })
}

/// Whoever checks is the operator: the database's own words are for them.
fn in_full(error: Error) -> String {
    match error.source {
        Some(source) => format!("{} ({source})", error.message),
        None => error.message,
    }
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

fn connection(connection: &Connection) -> Json {
    json!({
        "adapter": connection.adapter,
        "connector": connection.connector,
        "ok": connection.failure.is_none(),
        "error": connection.failure,
    })
}
