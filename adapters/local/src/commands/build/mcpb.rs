//! `millrace build --target mcpb`: an app as a desktop bundle, which a client installs and starts
//! by itself.
//!
//! ```text
//! manifest.json       what clients read
//! app.bundle          the app
//! data/               databases that belong to the user from the first start on
//! read-only/          databases that every version brings anew
//! server/millrace     the command for one platform
//! ```

use std::{
    env, fs, io,
    path::{Component, Path},
};

use millrace_bundler::{Diagnostic, Report, Severity};
use millrace_core::app::{Adapter, App, Auth};
use serde_json::json;

use super::{
    adapter_file::{self, AdapterFile},
    app_for_deployment::{self, shorten_maps},
    files::{Output, sha256},
    package_json::{self, PackageJson},
};
use crate::{
    app,
    cli::Build,
    commands::serve::data,
    output::{CommandError, CommandResult, note, print},
};

pub(super) mod manifest;
mod platform;
mod zip;

use manifest::Words;
use platform::Platform;
use zip::Part;

/// The largest program that is packed.
const MAX_PROGRAM: u64 = 1 << 30;

pub(super) fn run(arguments: &Build) -> CommandResult {
    let mut report = compile(&arguments.app, &[]);
    let mut app = app_for_deployment::take(&mut report, arguments)?;
    shorten_maps(&mut app);
    let package = PackageJson::of(&arguments.app)?;
    let description = description(arguments, &package, &app)?;
    let author = author(arguments, &package)?;
    let (program, platform) = program(arguments.binary.as_deref())?;
    let mut parts = databases(&arguments.app, &app)?;
    let keeps_data = app.adapters.iter().any(app::is_file);
    let words = Words { description: &description, author: &author };
    let manifest = format!("{:#}\n", manifest::of(&app, &package, &words, platform, keeps_data));
    let bundle = app.to_bundle().map_err(CommandError::wrong)?;
    parts.push(Part { name: manifest::BUNDLE.to_owned(), bytes: bundle, is_program: false });
    parts.push(Part { name: platform.program().to_owned(), bytes: program, is_program: true });
    parts.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    parts.insert(0, Part { name: "manifest.json".to_owned(), bytes: manifest.into_bytes(), is_program: false });
    let bytes = zip::zip(&parts).map_err(|error| CommandError::Wrong(format!("the desktop bundle cannot be packed: {error}")))?;
    let name = format!("{}.mcpb", app.name);
    let mut output = Output::new(&arguments.out, "mcpb");
    output.write(&name, &bytes)?;
    output.finish()?;
    tell_of_scripts(&app);
    let path = arguments.out.join(&name);
    let sum = sha256(&bytes);
    if arguments.json {
        let platform = platform.of_node();
        let built = json!({ "target": "mcpb", "file": path, "bytes": bytes.len(), "platform": platform, "sha256": sum });
        return app_for_deployment::print_built(&report.diagnostics, built);
    }
    let shown = path.display();
    print(format_args!(
        "{shown} ({} bytes, for {}); open it with Claude Desktop or another client that takes such bundles",
        bytes.len(),
        platform.of_node()
    ))
}

/// Compiles an app folder for a desktop, and says what a user's machine lacks.
pub(crate) fn compile(folder: &Path, clients: &[String]) -> Report {
    let mut report = app::compile_checked(folder, clients);
    if let Some(app) = &report.app {
        report.diagnostics.extend(check(folder, app));
    }
    report
}

fn check(folder: &Path, app: &App) -> Vec<Diagnostic> {
    // A `.env` file that cannot be read is reported where it is needed.
    let variables = app::variables(folder).unwrap_or_default();
    let mut found = Vec::new();
    for (_, adapter, place) in adapter_file::all(app, &variables) {
        let mut say = |severity, message: String, help: &str| {
            let file = format!("app/adapters/{}.yaml", adapter.name);
            let file = if folder.join(&file).exists() { file } else { "millrace.yaml".to_owned() };
            found.push(Diagnostic { severity, file: file.into(), line: 1, column: 1, length: 0, message, help: Some(help.into()) });
        };
        let name = &adapter.name;
        match place {
            AdapterFile::Elsewhere | AdapterFile::Unknown(_) => {}
            AdapterFile::Fixed(path) => {
                let message = format!("adapter `{name}` opens `{}`, which is not part of the desktop bundle", path.display());
                say(Severity::Warning, message, "Give a path relative to the app's folder, or have a variable name it.");
            }
            AdapterFile::Beside(path) => {
                let (shown, beside) = (path.display(), folder.join(&path));
                if path.components().any(|part| part == Component::ParentDir) {
                    let message = format!("adapter `{name}` opens `{shown}`, which lies outside of the app's folder and is not packed");
                    say(Severity::Error, message, "Move the file into the app's folder.");
                } else if adapter.seed.is_none() && !adapter_file::creates(adapter) && !beside.is_file() {
                    let message =
                        format!("adapter `{name}` opens `{shown}`, which does not exist: the desktop bundle will have no database");
                    say(Severity::Warning, message, "Put the file beside `millrace.yaml`, or name a `seed` that creates it.");
                } else if is_packed(adapter) && fs::metadata(format!("{}-wal", beside.display())).is_ok_and(|log| log.len() > 0) {
                    let message =
                        format!("adapter `{name}` opens `{shown}`, whose log `{shown}-wal` contains changes that are not in the file yet");
                    say(Severity::Error, message, "End what uses the database, or run `PRAGMA wal_checkpoint(TRUNCATE)`.");
                }
            }
        }
    }
    found
}

/// Whether the file beside the app is packed. Where a seed makes the database, what lies there is
/// the author's own data.
fn is_packed(adapter: &Adapter) -> bool {
    adapter.seed.is_none()
}

/// The databases that are packed.
fn databases(folder: &Path, app: &App) -> CommandResult<Vec<Part>> {
    let variables = app::variables(folder)?;
    let mut parts: Vec<Part> = Vec::new();
    for (_, adapter, place) in adapter_file::all(app, &variables).filter(|(_, adapter, _)| is_packed(adapter)) {
        let AdapterFile::Beside(path) = place else { continue };
        let from = folder.join(&path);
        if !from.is_file() {
            continue;
        }
        let below = if adapter.read_only { data::READ_ONLY } else { data::DATA };
        let names: Vec<String> = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        let name = format!("{below}/{}", names.join("/"));
        if parts.iter().any(|part| part.name == name) {
            continue;
        }
        let unreadable = |error: io::Error| CommandError::Wrong(format!("`{}` cannot be read: {error}", from.display()));
        let bytes = fs::read(&from).map_err(unreadable)?;
        note(format_args!("packs `{}` with its data ({} bytes)", from.display(), bytes.len()));
        parts.push(Part { name, bytes, is_program: false });
    }
    Ok(parts)
}

/// The program to pack, and its platform.
fn program(given: Option<&Path>) -> CommandResult<(Vec<u8>, Platform)> {
    let own = || env::current_exe().map_err(|error| CommandError::Wrong(format!("this program's own path is not known: {error}")));
    let file = given.map_or_else(own, |given| Ok(given.to_owned()))?;
    let wrong = |reason: String| CommandError::Wrong(format!("`{}` {reason}", file.display()));
    let data = fs::metadata(&file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if !data.is_file() || data.len() > MAX_PROGRAM {
        return Err(wrong("is not a program of less than 1 GB".to_owned()));
    }
    let bytes = fs::read(&file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let platform = Platform::of_program(&bytes).ok_or_else(|| wrong("is not a program for Linux, macOS or Windows".to_owned()))?;
    Ok((bytes, platform))
}

fn author(arguments: &Build, package: &PackageJson) -> CommandResult<String> {
    let known = arguments.author.clone().or_else(|| package.author.as_ref().map(|author| author.name.clone()));
    known.filter(|name| !name.trim().is_empty()).ok_or_else(|| {
        let file = package_json::FILE;
        CommandError::Usage(format!("a desktop bundle names its author: give `--author NAME`, or set `author` in `{file}`"))
    })
}

/// What the app is for, in one line.
pub(super) fn description(arguments: &Build, package: &PackageJson, app: &App) -> CommandResult<String> {
    let instructions = || app.instructions.clone();
    let known = arguments.description.clone().or_else(|| package.description.clone()).or_else(instructions);
    let known = known.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty());
    known.ok_or_else(|| {
        let file = package_json::FILE;
        CommandError::Usage(format!("it is not said what the app is for: give `--description TEXT`, or set `description` in `{file}`"))
    })
}

/// Says which tools do not work where nobody knows the header field that they read.
fn tell_of_scripts(app: &App) {
    let needs_more = |auth: &Auth| !auth.entries().iter().any(|entry| matches!(entry, Auth::AllowAll | Auth::ApiKey(_)));
    let tools = app.tools.iter().filter(|tool| tool.auth.as_ref().is_some_and(needs_more));
    let names: Vec<String> = tools.map(|tool| format!("`{}`", tool.name)).collect();
    if !names.is_empty() {
        note(format_args!(
            "warning: a client that starts the app sends no header field but X-API-Key, so these tools refuse: {}",
            names.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_parts_are_the_same_bytes() {
        let parts = || {
            [("b", 1_000), ("a/c", 70_000)].map(|(name, size)| Part { name: name.into(), bytes: vec![7; size], is_program: size > 2_000 })
        };
        let (one, other) = (zip::zip(&parts()).unwrap(), zip::zip(&parts()).unwrap());
        assert!(one == other && one.len() < 2_000, "{}", one.len());
    }
}
