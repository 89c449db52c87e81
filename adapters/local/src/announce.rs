//! What `dev` says when it is ready: the address, the tools, a line to try, and where the databases
//! are.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use millrace_bundler::Seed;
use millrace_core::{
    ErrorParts, Json,
    app::{Adapter, App, EnvPart, EnvTemplate, Input, InputKind, Tool},
    ports::Env as _,
};
use millrace_native::{cache::CacheChoice, env::Variables, isolate, wait_until::Tasks};
use serde_json::{Map, json};

use crate::{
    app,
    output::{CommandError, CommandResult, note, print, shell_word},
};

/// Lines that only want the address.
pub(crate) struct Announcement {
    name: String,
    path: String,
    tools: Vec<(String, String)>,
    attempt: Option<String>,
    databases: Vec<String>,
}

impl Announcement {
    /// What to say about an app.
    pub(crate) fn of(app: &App, databases: Vec<String>) -> Self {
        Self {
            name: app.name.clone(),
            path: app.server.path.clone(),
            tools: app.tools.iter().map(|tool| (tool.name.clone(), description(tool))).collect(),
            attempt: attempt(app).map(|call| call.to_string()),
            databases,
        }
    }

    /// Says it to whoever reads standard error, without an address: a client has standard output.
    pub(crate) fn note(&self) {
        let tools = app::count(self.tools.len(), "tool");
        note(format_args!("`{}` with {tools} on standard input and output", self.name));
        self.databases.iter().for_each(note);
    }

    /// Says it.
    pub(crate) fn print(&self, scheme: &str, address: SocketAddr) -> CommandResult {
        let base = format!("{scheme}://{}", reachable(address));
        let url = format!("{base}{}", self.path);
        let mut lines = vec![format!("`{}` at {url}", self.name), format!("in a browser: {base}/"), String::new()];
        let width = self.tools.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        lines.extend(self.tools.iter().map(|(name, description)| format!("  {name:width$}  {description}").trim_end().to_owned()));
        if self.tools.is_empty() {
            lines.push("  no tools yet".to_owned());
        }
        lines.extend(self.databases.iter().map(|line| format!("\n{line}")));
        if let Some(body) = &self.attempt {
            lines.push(format!(
                "\ntry:\n  curl -s {} -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -d {}",
                shell_word(&url),
                shell_word(body)
            ));
        }
        print(lines.join("\n"))
    }
}

/// Makes the databases that have a seed and do not exist yet, and says where each embedded database
/// is.
///
/// # Errors
/// A thread cannot be started. A database that cannot be made is a line that says so: the tools
/// that need it say the same.
pub(crate) fn databases(app: &App, folder: &Path, variables: &Variables) -> CommandResult<Vec<String>> {
    let mut lines = Vec::new();
    for (index, adapter) in app.adapters.iter().enumerate().filter(|(_, adapter)| app::is_file(adapter)) {
        let Some(path) = database(adapter, folder, variables) else { continue };
        let shown = std::path::absolute(&path).unwrap_or(path.clone());
        let shown = shown.display();
        lines.push(match (path.exists(), &adapter.seed) {
            (true, _) => format!("database of `{}`: {shown}", adapter.name),
            (false, None) => format!("database of `{}`: {shown} (does not exist)", adapter.name),
            (false, Some(_)) => {
                note(format_args!("creating the database of `{}` from its seed …", adapter.name));
                match make(app, index, folder, variables)? {
                    None => format!("database of `{}`: {shown} (created)", adapter.name),
                    Some(failure) => format!("database of `{}`: {shown} cannot be created: {failure}", adapter.name),
                }
            }
        });
    }
    Ok(lines)
}

/// The files of the embedded databases.
pub(crate) fn database_files(app: &App, folder: &Path, variables: &Variables) -> Vec<PathBuf> {
    let files = app.adapters.iter().filter(|adapter| app::is_file(adapter));
    files.filter_map(|adapter| database(adapter, folder, variables)).collect()
}

/// The databases that an earlier version of their seed created. A change of a seed reaches no
/// database that is there.
pub(crate) fn outdated(app: &App, folder: &Path, variables: &Variables, seeds: &[Seed]) -> Vec<String> {
    let files = app.adapters.iter().filter(|adapter| app::is_file(adapter)).filter_map(|adapter| {
        let seed = adapter.seed.as_deref()?;
        let path = database(adapter, folder, variables)?;
        let is_outdated = millrace_connectors::sqlite::is_of_seed(&path, seed) == Some(false);
        let file = seeds.iter().find(|known| known.adapter == adapter.name).map_or("the seed", |known| &known.file);
        is_outdated.then(|| {
            let (name, path) = (&adapter.name, std::path::absolute(&path).unwrap_or(path));
            format!(
                "warning: `{file}` has changed since it created the database of `{name}`, which does not have the change; to create it anew, stop \
                 `dev`, move `{}` away, and start again",
                path.display()
            )
        })
    });
    files.collect()
}

fn make(app: &App, adapter: usize, folder: &Path, variables: &Variables) -> CommandResult<Option<String>> {
    let (app, base, variables) = (app.clone(), folder.to_owned(), variables.clone());
    let ping = move || async move {
        let endpoint = app::endpoint(app, base, variables, &CacheChoice::Memory, &Tasks::new());
        endpoint.pipeline().ping(adapter).await.err().map(|error| {
            let ErrorParts { message, source, .. } = error.into_parts();
            source.unwrap_or(message)
        })
    };
    isolate::run(ping).map_err(CommandError::wrong)
}

/// The file of an embedded database; `None` where it is in memory, or a variable is not set.
fn database(adapter: &Adapter, folder: &Path, variables: &Variables) -> Option<PathBuf> {
    let text = fill(&adapter.connection_string, variables)?;
    let rest = text.strip_prefix("sqlite:").or_else(|| text.strip_prefix("file:")).unwrap_or(&text);
    let is_uri = rest.len() != text.len();
    let rest = if is_uri { rest.split('?').next().unwrap_or(rest).trim_start_matches("//") } else { rest };
    (!rest.is_empty() && rest != ":memory:" && !text.contains("mode=memory")).then(|| folder.join(rest))
}

fn fill(template: &EnvTemplate, variables: &Variables) -> Option<String> {
    let mut text = String::new();
    for part in &template.0 {
        match part {
            EnvPart::Text(part) => text.push_str(part),
            EnvPart::Env(name) => text.push_str(variables.var(name)?.expose()),
            EnvPart::Secret(_) | EnvPart::Caller(_) => return None,
        }
    }
    Some(text)
}

/// The first sentence or so.
fn description(tool: &Tool) -> String {
    let descriptor: Json = serde_json::from_str(&tool.descriptor).unwrap_or_default();
    descriptor["description"].as_str().and_then(|text| text.lines().next()).unwrap_or_default().to_owned()
}

/// A `tools/call` of the tool that is easiest to call: no credentials, values that its author gave,
/// something to fill in.
fn attempt(app: &App) -> Option<Json> {
    let candidates = app.tools.iter().filter(|tool| tool.auth.is_none()).map(|tool| (tool, arguments(tool)));
    let (tool, (arguments, _)) = candidates.min_by_key(|(tool, (arguments, guessed))| {
        let reads = tool.execute.access().is_some_and(millrace_core::app::Access::reads);
        (*guessed, !reads, tool.map_input.is_some() || tool.map_output.is_some(), arguments.is_empty(), arguments.len())
    })?;
    Some(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool.name, "arguments": arguments } }))
}

/// The required inputs of a tool with a value each, and how many values are guessed.
fn arguments(tool: &Tool) -> (Map<String, Json>, usize) {
    let descriptor: Json = serde_json::from_str(&tool.descriptor).unwrap_or_default();
    let schemas = &descriptor["inputSchema"]["properties"];
    let mut guessed = 0;
    let mut values = Map::new();
    for input in tool.inputs.iter().filter(|input| !input.optional && input.default.is_none()) {
        let given = schemas[&input.name]["examples"].get(0).or_else(|| input.allowed.first().map(|literal| &literal.0));
        let value = given.cloned().unwrap_or_else(|| {
            guessed += 1;
            guess(input)
        });
        values.insert(input.name.clone(), value);
    }
    (values, guessed)
}

fn guess(input: &Input) -> Json {
    match input.kind {
        InputKind::Int => json!(input.min.map_or(1, |min| min.ceil() as i64)),
        InputKind::Float => json!(input.min.unwrap_or(1.0)),
        InputKind::Boolean => json!(true),
        InputKind::Date => json!("2026-01-31"),
        InputKind::Datetime => json!("2026-01-31T12:00:00Z"),
        InputKind::Uuid => json!("00000000-0000-4000-8000-000000000000"),
        InputKind::Array => json!([]),
        InputKind::Object | InputKind::Json => json!({}),
        InputKind::String => json!("example"),
    }
}

/// An address that a client of this machine can use.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], v4.port())),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, v6.port())),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_found_where_the_connector_finds_it() {
        let variables = [("DB".to_owned(), "data/x.db".to_owned())].into_iter().collect::<Variables>();
        let adapter = |parts: Vec<EnvPart>| Adapter {
            name: "a".into(),
            connector: "sqlite".into(),
            connection_string: EnvTemplate(parts),
            options: Vec::new(),
            timeout_ms: 1,
            max_rows: 1,
            read_only: false,
            seed: None,
            session: Vec::new(),
            tenant: None,
            databases: None,
        };
        let text = |text: &str| vec![EnvPart::Text(text.into())];
        for (parts, expected) in [
            (text("shop.db"), Some("/apps/shop.db")),
            (text("/var/shop.db"), Some("/var/shop.db")),
            (text("file:shop.db?mode=ro"), Some("/apps/shop.db")),
            (text("sqlite:///var/shop.db"), Some("/var/shop.db")),
            (text(":memory:"), None),
            (text("file:x?mode=memory"), None),
            (vec![EnvPart::Env("DB".into())], Some("/apps/data/x.db")),
            (vec![EnvPart::Env("MISSING".into())], None),
        ] {
            assert_eq!(database(&adapter(parts.clone()), Path::new("/apps"), &variables), expected.map(PathBuf::from), "{parts:?}");
        }
    }
}
