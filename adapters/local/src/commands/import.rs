//! `millrace import`: an app of what another server was configured with, or of an API.
//!
//! What the file says becomes the files that an author would write, who owns them from then on.
//! What an app cannot have is left out and named: nobody gets a tool that does something else, or
//! that more callers may call.

use std::{collections::BTreeMap, fs, io::Read as _, path::Path};

use millrace_bundler::{Diagnostic, Severity, yaml_documents};
use millrace_core::Json;

use super::{
    first_tests::{self, Known},
    new::{folder::AppFolder, from::yaml},
};
use crate::{
    app::{self, count},
    cli::{Import, ImportSource, ImportToolbox},
    output::{CommandError, CommandResult, print, typed},
};

mod imported;
pub(super) mod openapi;
mod toolbox;

use imported::{ImportedApp, MOST_ROUNDS, Omission, folder_for};

/// The longest configuration, in bytes.
const MAX_FILE: u64 = 4 << 20;

pub(super) fn run(arguments: &Import) -> CommandResult {
    match &arguments.source {
        ImportSource::Toolbox(arguments) => of_toolbox(arguments),
        ImportSource::Openapi(arguments) => openapi::run(arguments),
    }
}

fn of_toolbox(arguments: &ImportToolbox) -> CommandResult {
    let documents = documents(&arguments.file)?;
    let path = arguments.name.clone().unwrap_or_else(|| folder_for(&arguments.file, "toolbox"));
    let folder = AppFolder::new(&path)?;
    let imported = toolbox::convert(&documents, arguments.textual)
        .map_err(|why| CommandError::Wrong(format!("`{}` is not a configuration of MCP Toolbox: {why}", arguments.file.display())))?;
    write(&folder, imported)
}

/// Reads the file's documents.
fn documents(file: &Path) -> CommandResult<Vec<Json>> {
    let shown = file.display();
    let unreadable = |error: std::io::Error| CommandError::Wrong(format!("`{shown}` cannot be read: {error}"));
    let mut text = String::new();
    fs::File::open(file).map_err(unreadable)?.take(MAX_FILE + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_FILE {
        return Err(CommandError::Wrong(format!("`{shown}` is longer than {} MB", MAX_FILE >> 20)));
    }
    yaml_documents(&shown.to_string(), &text).map_err(|found| {
        let line = |Diagnostic { file, line, column, message, .. }: Diagnostic| format!("{}:{line}:{column} {message}", file.display());
        CommandError::Wrong(found.into_iter().map(line).collect::<Vec<_>>().join("\n"))
    })
}

fn write(folder: &AppFolder<'_>, mut imported: ImportedApp) -> CommandResult {
    if imported.tools.is_empty() {
        let lines: Vec<String> = imported.omitted.iter().map(Omission::line).collect();
        return Err(CommandError::Wrong(format!("the file has no tool that an app can have; nothing was written\n{}", lines.join("\n"))));
    }
    let name = yaml::word(folder.name);
    folder.write("millrace.yaml", &format!("name: {name}\nversion: 0.1.0\n{}", imported.root))?;
    for (file, text) in &imported.files {
        folder.write(file, text)?;
    }
    if !imported.variables.is_empty() {
        let set = imported.variables.iter().filter_map(|(name, value)| Some(format!("{name}='{}'\n", value.as_ref()?)));
        folder.write_private(".env", &set.collect::<String>())?;
        let example: String = imported.variables.keys().map(|name| format!("{name}=\n")).collect();
        folder.write(".env.example", &format!("# Copy this to `.env`, which git ignores.\n{example}"))?;
        folder.write(".gitignore", ".env\n")?;
    }
    remove_rejected(folder, &mut imported)?;
    report(folder, &imported)
}

/// Removes the tools that the bundler rejects, so that the others can be served.
fn remove_rejected(folder: &AppFolder<'_>, imported: &mut ImportedApp) -> CommandResult {
    for _ in 0..MOST_ROUNDS {
        let found = app::compile(folder.path).diagnostics;
        let mut errors = found.iter().filter(|found| found.severity == Severity::Error).peekable();
        if errors.peek().is_none() {
            return Ok(());
        }
        let mut rejected: BTreeMap<String, String> = BTreeMap::new();
        for error in errors {
            let tool = imported.tools.iter().find(|(_, place)| error.file.starts_with(place));
            if let Some((tool, _)) = tool {
                rejected.entry(tool.clone()).or_insert_with(|| error.message.clone());
            }
        }
        if rejected.is_empty() {
            app::show(folder.path, &found);
            return Err(CommandError::Told);
        }
        for (tool, why) in rejected {
            let Some(place) = imported.tools.remove(&tool) else { continue };
            let place = folder.path.join(place);
            fs::remove_dir_all(&place).map_err(|error| CommandError::Wrong(format!("`{}` cannot be removed: {error}", place.display())))?;
            imported.omitted.push(Omission { what: format!("the tool `{tool}`"), why });
        }
    }
    Ok(())
}

fn report(folder: &AppFolder<'_>, imported: &ImportedApp) -> CommandResult {
    print(format_args!("created `{}` with {}", folder.name, count(imported.tools.len(), "tool")))?;
    first_tests::write(folder.path, &Known::default())?;
    for note in &imported.notes {
        print(format_args!("note: {note}"))?;
    }
    if !imported.omitted.is_empty() {
        print(format_args!("\nnot carried over:"))?;
    }
    for omission in &imported.omitted {
        print(omission.line())?;
    }
    let unset: Vec<String> = imported.variables.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| format!("`{name}`")).collect();
    if !unset.is_empty() {
        print(format_args!("\nset these variables, on this machine in `.env`: {}", unset.join(", ")))?;
    }
    let place = typed(folder.path);
    print(format_args!("\n  millrace check {place} --connect\n  millrace dev {place}"))
}
