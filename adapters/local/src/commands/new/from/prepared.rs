//! The files of tools, whose statements the database takes: what it refuses is not kept.

use std::{collections::BTreeMap, fs};

use millrace_core::{ErrorKind, app::App, secret::Secret};
use millrace_native::{cache::CacheChoice, env::Variables, isolate, wait_until::Tasks};

use super::{source::VARIABLE, table_tools::TableTools, yaml::in_comment};
use crate::{
    app::{self, count},
    commands::new::folder::AppFolder,
    output::{CommandError, CommandResult, in_full, print},
};

/// Writes the tools and presenters of tables, and says so. Each statement is prepared; a tool whose
/// statement is refused is removed again, and its table with it where that cannot be listed. Gives
/// the tables that have tools.
///
/// # Errors
/// A file cannot be written or removed.
pub(super) fn write<'p, 'a>(
    folder: &AppFolder<'_>,
    planned: &'p [TableTools<'a>],
    write: bool,
    address: &Secret<String>,
) -> CommandResult<Vec<&'p TableTools<'a>>> {
    let mut verbs: Vec<Vec<&'static str>> = Vec::new();
    for table in planned {
        folder.write(&format!("app/presenters/{}.yaml", table.name), &table.presenter())?;
        let files = table.files(write);
        verbs.push(files.iter().map(|file| file.verb).collect());
        for file in files {
            folder.write(&format!("app/tools/{}/{}/config.yaml", table.name, file.verb), &file.text)?;
        }
    }
    let refused = match app::compile(folder.path).app {
        Some(app) => refused(app, folder, address)?,
        None => BTreeMap::new(),
    };
    let (mut report, mut written, mut tools) = (Vec::new(), Vec::new(), 0);
    for (table, mut verbs) in planned.iter().zip(verbs) {
        let why = |verb: &str| refused.get(&format!("{}-{verb}", table.name));
        if let Some(problem) = why("list") {
            remove(folder, &format!("app/tools/{}", table.name))?;
            remove(folder, &format!("app/presenters/{}.yaml", table.name))?;
            report.push(format!("left out {}: the database does not take its statement: {problem}", in_comment(&table.shown())));
            continue;
        }
        let mut notes: Vec<String> = Vec::new();
        notes.extend(table.why_not_created().filter(|_| write).map(|why| format!("no create: {why}")));
        for verb in verbs.clone() {
            let Some(problem) = why(verb) else { continue };
            remove(folder, &format!("app/tools/{}/{verb}", table.name))?;
            verbs.retain(|other| *other != verb);
            notes.push(format!("no {verb}: the database does not take the statement: {problem}"));
        }
        tools += verbs.len();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        report.push(format!("  {}: {}{notes}", table.name, verbs.join(", ")));
        written.push(table);
    }
    print(format_args!("wrote {} for {}:\n{}", count(tools, "tool"), count(written.len(), "table"), report.join("\n")))?;
    Ok(written)
}

/// The tools whose statements the database does not take, and what it says. What it cannot tell now
/// is no reason to leave a tool out.
fn refused(app: App, folder: &AppFolder<'_>, address: &Secret<String>) -> CommandResult<BTreeMap<String, String>> {
    // The variable of the shell may be that of another database.
    let variables = Variables::from_iter([(VARIABLE.to_owned(), address.expose().clone())]);
    let base = folder.path.to_path_buf();
    let ask = move || async move {
        let tasks = Tasks::new();
        let endpoint = app::endpoint(app, base, variables, &CacheChoice::Memory, &tasks);
        let mut refused = BTreeMap::new();
        for (place, tool) in endpoint.app().tools.iter().enumerate() {
            if let Some(Err(error)) = endpoint.pipeline().rehearse(place).await
                && matches!(error.kind, ErrorKind::Syntax | ErrorKind::Denied | ErrorKind::Configuration)
            {
                refused.insert(tool.name.clone(), in_full(error));
            }
        }
        tasks.drained().await;
        refused
    };
    isolate::run(ask).map_err(CommandError::wrong)
}

fn remove(folder: &AppFolder<'_>, path: &str) -> CommandResult {
    let path = folder.path.join(path);
    let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    removed.map_err(|error| CommandError::Wrong(format!("`{}` cannot be removed: {error}", path.display())))
}
