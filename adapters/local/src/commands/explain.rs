//! `millrace explain`: what a call of one tool goes through, and where each setting came from.

use millrace_bundler::Origin;
use millrace_core::{
    Json,
    app::{Access, App, Auth, CacheScope, ErrorStyle, Execute, ScriptRef, Tool},
};
use serde_json::json;

use crate::{
    app::{self, count},
    cli::Explain,
    output::{Failure, Outcome, print, print_json},
};

pub(super) fn run(arguments: &Explain) -> Outcome {
    let bundled = app::load(&arguments.app)?;
    let tool = bundled.app.tools.iter().find(|tool| tool.name == arguments.tool).ok_or_else(|| unknown(&bundled.app, &arguments.tool))?;
    let stages = stages(&bundled.app, tool);
    let settings: Vec<&Origin> = bundled.report.origins.iter().filter(|origin| origin.tool == tool.name).collect();
    if arguments.json {
        return print_json(&json!({
            "tool": tool.name,
            "stages": stages.iter().map(|(stage, does)| json!({ "stage": stage, "does": does })).collect::<Vec<_>>(),
            "settings": settings.iter().map(|origin| setting(origin)).collect::<Vec<_>>(),
        }));
    }
    let mut lines = vec![format!("`{}` ({})", tool.name, tool.path), String::new()];
    lines.extend(stages.iter().map(|(stage, does)| format!("{stage:>14}  {does}")));
    lines.push(String::new());
    let width = |part: fn(&Origin) -> &str| settings.iter().map(|origin| part(origin).chars().count()).max().unwrap_or(0).min(48);
    let (name, value) = (width(|origin| &origin.setting), width(|origin| &origin.value));
    lines.extend(settings.iter().map(|origin| format!("  {:name$}  {:value$}  {}", origin.setting, origin.value, origin.place)));
    print(lines.join("\n").trim_end())
}

fn setting(origin: &Origin) -> Json {
    json!({ "setting": origin.setting, "value": origin.value, "place": origin.place })
}

fn unknown(app: &App, name: &str) -> Failure {
    let names: Vec<&str> = app.tools.iter().map(|tool| tool.name.as_str()).collect();
    let known = if names.is_empty() { "it has none".to_owned() } else { format!("it has: {}", names.join(", ")) };
    Failure::Wrong(format!("the app has no tool `{name}`; {known}"))
}

/// Every stage in order, and what it does for this tool.
fn stages(app: &App, tool: &Tool) -> Vec<(&'static str, String)> {
    let script = |script: &ScriptRef| {
        let path = app.scripts.get(script.script as usize).map_or("?", |script| script.path.as_str());
        if script.export == "default" { format!("`{path}`") } else { format!("`{}` of `{path}`", script.export) }
    };
    let optional = |reference: &Option<ScriptRef>, absent: &str| {
        reference.as_ref().map_or_else(|| absent.to_owned(), |found| format!("runs {}", script(found)))
    };
    vec![
        ("resolve", format!("finds `{}`", tool.name)),
        ("authenticate", tool.auth.as_ref().map_or_else(|| "nothing: no `auth`".to_owned(), |auth| authenticate(auth, script))),
        ("context", "gives scripts and placeholders the principal, the request and the listed variables".to_owned()),
        ("signal", format!("ends the call after {} ms, or when the client goes away", tool.limits.timeout_ms)),
        ("map_input", optional(&tool.map_input, "nothing: no input mapper")),
        ("validate", format!("checks {}", count(tool.inputs.len(), "input"))),
        ("middleware", "nothing: not supported yet".to_owned()),
        ("guard", "nothing: not supported yet".to_owned()),
        ("execute", execute(app, tool, script)),
        ("map_output", optional(&tool.map_output, "nothing: no output mapper")),
        ("present", "nothing: not supported yet".to_owned()),
        ("sync", "nothing: not supported yet".to_owned()),
        ("serialize", serialize(tool)),
    ]
}

fn authenticate(auth: &Auth, script: impl Fn(&ScriptRef) -> String) -> String {
    match auth {
        Auth::AllowAll => "lets everybody in".to_owned(),
        Auth::ApiKey(policy) => format!("wants one of {}", count(policy.keys.len(), "API key")),
        Auth::Script { script: plugin, .. } => format!("runs {}", script(plugin)),
    }
}

fn execute(app: &App, tool: &Tool, script: impl Fn(&ScriptRef) -> String) -> String {
    match &tool.execute {
        Execute::Script(handler) => format!("runs {}", script(handler)),
        Execute::Search(index) => format!("looks for tools by {}", count(index.words.len(), "word")),
        Execute::Forward => "calls the tool that `tool` names, from the first stage on".to_owned(),
        Execute::Statement { adapter, statement } => {
            let adapter = app.adapters.get(*adapter as usize);
            let (name, connector) = adapter.map_or(("?", "?"), |adapter| (&adapter.name, &adapter.connector));
            let access = if statement.access == Access::Read { "reads" } else { "writes" };
            let cache = tool.cache.map_or_else(String::new, |cache| {
                let scope = if cache.scope == CacheScope::Public { "all callers" } else { "each principal" };
                format!(", kept {} s for {scope}", cache.ttl_s)
            });
            format!("{access} with adapter `{name}` ({connector}){cache}")
        }
    }
}

fn serialize(tool: &Tool) -> String {
    let style = match tool.errors.style {
        ErrorStyle::Result => "tool results",
        ErrorStyle::Protocol => "JSON-RPC errors",
    };
    format!("faults are {style}; at most {} bytes", tool.limits.output_bytes)
}
