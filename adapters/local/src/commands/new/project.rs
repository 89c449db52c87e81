//! What surrounds a new app: the files of npm, of its hosts, of clients and of those who work on
//! it.

use serde_json::{Map, Value as Json, json};

use millrace_bundler::types::{LIBRARIES, declarations};

use super::folder::AppFolder;
use crate::{
    app::{self, BundledApp},
    clients::{Client, Server, npx},
    commands::{
        build::{lambda::template, worker::wrangler},
        schema, types,
    },
    output::{CommandError, CommandResult, typed},
};

const README: &str = include_str!("../../../template/README.md");
const AGENTS: &str = include_str!("../../../template/AGENTS.md");
/// The sections of `AGENTS.md` on tools, for an app on a database and for one on an API.
const AGENTS_DATABASE: &str = include_str!("../../../template/agents-database.md");
const AGENTS_API: &str = include_str!("../../../template/agents-api.md");
const IGNORED: &str = include_str!("../../../template/gitignore");
/// What stands for the package `millrace` in tests of handlers, where it is not installed, and what
/// puts it in that place.
const SCRIPT_MODULE: &str = include_str!("../../../../../npm/millrace/script.js");
const NODE_HOOK: &str = include_str!("../../../template/node.js");
/// The version of wrangler that the Worker is tested with.
pub(super) const WRANGLER: &str = "4.164.0";
/// The extension of Visual Studio Code that starts a language server by settings; its settings
/// begin with `glspc`.
const LSP_CLIENT: &str = "zsol.vscode-glspc";
/// What the Worker's build does not touch, and is not touched by.
const LAMBDA_FOLDER: &str = "dist-lambda";

/// A new app, as its texts describe it.
pub(super) struct Project {
    pub(super) example: Example,
    /// What fills the database of a Worker.
    pub(super) seed: Option<Seed>,
    /// A section of the README: where the data are. Ends with an empty line.
    pub(super) data: String,
    /// What the README says of the data in a Worker.
    pub(super) worker: String,
    /// And on Lambda.
    pub(super) lambda: String,
}

/// What the examples in the texts use.
pub(super) struct Example {
    /// A call that succeeds: `find-notes q=tools`.
    pub(super) call: String,
    pub(super) adapter: String,
    /// A table of the database; `None` where the adapter is an API.
    pub(super) table: Option<TableExample>,
}

/// A table that the examples use.
pub(super) struct TableExample {
    /// The rows of the table, in words: `the notes`.
    pub(super) noun: String,
    /// The table, as a statement names it.
    pub(super) name: String,
    /// The same, within a string of a script.
    pub(super) script_name: String,
    /// A text of the table, as a statement names it.
    pub(super) column: String,
    /// How the driver writes the first parameter.
    pub(super) parameter: String,
}

/// SQL that fills a D1 database.
pub(super) struct Seed {
    pub(super) binding: &'static str,
    pub(super) file: &'static str,
}

impl Project {
    /// Writes the files around an app whose own files are written.
    ///
    /// # Errors
    /// A file cannot be written, or the app is wrong.
    pub(super) fn write(&self, folder: &AppFolder<'_>) -> CommandResult {
        folder.write("package.json", &pretty(&self.package(folder.name)))?;
        folder.write(".gitignore", IGNORED)?;
        folder.write(".mcp.json", &mcp_client(folder.name)?)?;
        folder.write("AGENTS.md", &self.text(AGENTS, folder.name))?;
        folder.write("README.md", &self.text(README, folder.name))?;
        folder.write("tsconfig.json", &pretty(&compiler_options()))?;
        folder.write(".vscode/settings.json", &pretty(&editor_settings()))?;
        folder.write(".vscode/extensions.json", &pretty(&json!({ "recommendations": [LSP_CLIENT] })))?;
        for (name, text) in schema::files() {
            folder.write(&format!("{}/{name}", schema::FOLDER), &text)?;
        }
        folder.write(&format!("{}/node.js", schema::FOLDER), NODE_HOOK)?;
        folder.write(&format!("{}/script.js", schema::FOLDER), SCRIPT_MODULE)?;
        let BundledApp { app: local, report } = app::load(folder.path)?;
        folder.write(types::FILE, &declarations(&local, &report.statements))?;
        folder.write("template.yaml", &template::of_new_app(&local, LAMBDA_FOLDER))?;
        let worker = app::compile_for_worker(folder.path, Vec::new(), &[]);
        app::show(folder.path, &worker.diagnostics);
        let worker = worker.app.ok_or(CommandError::Told)?;
        folder.write("wrangler.toml", &wrangler::of_new_app(&worker))
    }

    /// What to do now, for whoever runs the command: by npm where npm ran it.
    pub(super) fn next_steps(&self, folder: &AppFolder<'_>) -> String {
        let by_npm = std::env::var_os("npm_execpath").is_some() || std::env::var_os("npm_config_user_agent").is_some();
        let call = &self.example.call;
        let (install, millrace) = if by_npm { ("  npm install\n", "npx millrace") } else { ("", "millrace") };
        let steps = [
            (format!("{millrace} dev"), "serves it on this machine, with a page to try it on"),
            (format!("{millrace} call {call}"), "calls a tool"),
            (format!("{millrace} check"), "finds mistakes"),
        ];
        let width = steps.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
        let lines: String = steps.iter().map(|(command, what)| format!("  {command:width$}  # {what}\n")).collect();
        format!(
            "created `{}`:\n\n  cd {}\n{install}{lines}\nREADME.md describes how to connect a client and how to deploy the app, AGENTS.md how to add a tool.",
            folder.name,
            typed(folder.path)
        )
    }

    fn package(&self, name: &str) -> Json {
        let mut scripts = Map::new();
        let mut script = |name: &str, command: String| scripts.insert(name.to_owned(), command.into());
        script("dev", "millrace dev".to_owned());
        script("check", "millrace check".to_owned());
        script("types", "millrace types".to_owned());
        script("test", format!("node --import ./{}/node.js --test", schema::FOLDER));
        script("dev:worker", "wrangler dev --local".to_owned());
        if let Some(Seed { binding, file }) = &self.seed {
            script("seed:worker", format!("wrangler d1 execute {binding} --local --file {file}"));
            script("seed:worker:remote", format!("wrangler d1 execute {binding} --remote --file {file}"));
        }
        script("deploy:worker", "wrangler deploy".to_owned());
        script("build:lambda", format!("millrace build --target lambda --out {LAMBDA_FOLDER}"));
        script("deploy:lambda", "npm run build:lambda && sam deploy --guided".to_owned());
        // npm refuses to install a package into one of the same name.
        let package = if ["millrace", "wrangler", "node_modules"].contains(&name) { format!("{name}-app") } else { name.to_owned() };
        json!({
            "name": package,
            "version": "0.1.0",
            "private": true,
            "type": "module",
            "scripts": scripts,
            "devDependencies": { "millrace": format!("^{}", env!("CARGO_PKG_VERSION")), "wrangler": format!("^{WRANGLER}") },
        })
    }

    fn text(&self, template: &str, name: &str) -> String {
        let Self { example, seed: _, data, worker, lambda } = self;
        let work = match &example.table {
            Some(table) => filled(
                AGENTS_DATABASE,
                &[
                    ("adapter", &example.adapter),
                    ("noun", &table.noun),
                    ("table", &table.name),
                    ("script_table", &table.script_name),
                    ("column", &table.column),
                    ("parameter", &table.parameter),
                ],
            ),
            None => filled(AGENTS_API, &[("adapter", &example.adapter)]),
        };
        let parts = [
            ("name", name),
            ("call", example.call.as_str()),
            ("work\n", &work),
            ("data\n", data),
            ("worker\n", worker),
            ("lambda", lambda),
        ];
        filled(template, &parts)
    }
}

/// A text with its parts, `{{name}}` without spaces, replaced in one pass: what is put in is never
/// looked at again.
fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text += before;
        let part = parts.iter().find_map(|(key, value)| {
            let (key, line) = key.strip_suffix('\n').map_or((*key, ""), |key| (key, "\n"));
            Some((*value, after.strip_prefix(key)?.strip_prefix("}}")?.strip_prefix(line)?))
        });
        match part {
            Some((value, after)) => (text, rest) = (text + value, after),
            None => (text, rest) = (text + "{{", after),
        }
    }
    text + rest
}

/// The file of Claude Code, which it reads in a project. Most other clients have the same member in
/// their own files.
fn mcp_client(name: &str) -> CommandResult<String> {
    // Claude Code starts it in the project's folder, with the version that `package.json` names
    // once that is installed.
    let (program, arguments) = npx(&["-y", "millrace", "run", "."].map(str::to_owned), cfg!(windows));
    let server = Server::Command { program, arguments, key: None };
    let entry = Client::ClaudeCode.connection(name, &server).entry;
    entry.and_then(|entry| entry.text().ok()).ok_or_else(|| CommandError::Wrong("`.mcp.json` cannot be written".to_owned()))
}

/// `tsconfig.json`: scripts as an editor and `tsc` check them.
fn compiler_options() -> Json {
    json!({
        "compilerOptions": {
            "strict": true,
            "target": "ESNext",
            "module": "ESNext",
            "moduleResolution": "Bundler",
            "lib": LIBRARIES,
            // The globals of Node are not those of scripts, whatever is installed.
            "types": [],
            "noEmit": true,
            "allowJs": true,
            "allowImportingTsExtensions": true,
            "resolveJsonModule": true,
            "verbatimModuleSyntax": true,
            "skipLibCheck": true,
        },
        "include": ["app", types::FILE],
    })
}

/// The settings of Visual Studio Code: where the schemas are, and how the language server is
/// started.
fn editor_settings() -> Json {
    let mut settings = schema::settings(schema::FOLDER);
    settings["glspc.server.command"] = "npx".into();
    settings["glspc.server.commandArguments"] = json!(["-y", "millrace", "lsp"]);
    settings["glspc.server.languageId"] = json!(["yaml", "typescript", "javascript"]);
    settings
}

fn pretty(value: &Json) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_filled_in_once() {
        let parts = [("name", "{{call}}"), ("call", "x"), ("data\n", "")];
        assert_eq!(filled("{{name}} {{ inputs.name }} {{call}}{{data}}\n{{other}}", &parts), "{{call}} {{ inputs.name }} x{{other}}");
    }
}
