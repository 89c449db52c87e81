//! SQLite's files of an app, on their way into the package.
//!
//! A file that lies beside the app is copied, as it is; one that only a seed knows is made now, so
//! that no cold start has to.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use millrace_bundler::{Diagnostic, Severity};
use millrace_core::{app::App, ports::Env};

use crate::commands::build::adapter_file::{self, AdapterFile, creates, writes};

/// What Lambda lacks of what the app's databases need.
pub(super) fn check(folder: &Path, app: &App, env: &dyn Env) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (index, adapter, place) in adapter_file::all(app, env) {
        let mut say = |severity, message: String, help: &str| {
            let file = PathBuf::from(format!("app/adapters/{}.yaml", adapter.name));
            let file = if folder.join(&file).exists() { file } else { "millrace.yaml".into() };
            found.push(Diagnostic { severity, file, line: 1, column: 1, length: 0, message, help: Some(help.into()) });
        };
        let name = &adapter.name;
        let path = match place {
            AdapterFile::Elsewhere => continue,
            AdapterFile::Unknown(variable) => {
                let message = format!("adapter `{name}` opens what `{variable}` names, which is not set now: its file is not packed");
                say(
                    Severity::Warning,
                    message,
                    "Set the variable for the build, too, or put it into `.env`, where the file belongs to the app.",
                );
                continue;
            }
            AdapterFile::Fixed(path) if ["/tmp", "/mnt"].iter().any(|start| path.starts_with(start)) => continue,
            AdapterFile::Fixed(path) => {
                let message = format!("adapter `{name}` opens `{}`, which does not exist on Lambda", path.display());
                say(
                    Severity::Error,
                    message,
                    "Give a path relative to the app's folder: the build packs that file. A file system is mounted below /mnt.",
                );
                continue;
            }
            AdapterFile::Beside(path) => path,
        };
        let shown = path.display();
        let beside = folder.join(&path);
        if path.components().any(|part| matches!(part, Component::ParentDir)) {
            let message = format!("adapter `{name}` opens `{shown}`, which lies outside of the app's folder and is not packed");
            say(Severity::Error, message, "Move the file into the app's folder.");
        } else if !beside.exists() && adapter.seed.is_none() && !creates(adapter) {
            let message = format!("adapter `{name}` opens `{shown}`, which does not exist: the package will have no database");
            say(Severity::Warning, message, "Put the file beside `millrace.yaml`, or name a `seed` that creates it.");
        } else if fs::metadata(format!("{}-wal", beside.display())).is_ok_and(|log| log.len() > 0) {
            let message =
                format!("adapter `{name}` opens `{shown}`, whose log `{shown}-wal` contains changes that are not in the file yet");
            say(Severity::Error, message, "End what uses the database, or run `PRAGMA wal_checkpoint(TRUNCATE)`.");
        } else {
            if beside.is_file() && adapter.seed.is_some() {
                let message =
                    format!("adapter `{name}` opens `{shown}`: your own file is packed as it is now, not one that the seed creates");
                say(
                    Severity::Warning,
                    message,
                    "If that is not what you want, move the file away: the build then creates one with the seed.",
                );
            }
            if !adapter.read_only && writes(app, index) {
                let message = format!(
                    "adapter `{name}` writes to `{shown}`: on Lambda that is a copy in /tmp, which is lost with its execution environment"
                );
                say(Severity::Warning, message, "Keep data that must last in `libsql`, `d1` or another server's database.");
            }
        }
    }
    found
}

/// Copies the databases that lie beside the app below `data`. Gives the adapters, by index, whose
/// databases are still to be made, and the paths of all databases below `data`.
///
/// # Errors
/// A file cannot be copied.
pub(super) fn pack(folder: &Path, app: &App, env: &dyn Env, data: &Path) -> io::Result<(Vec<usize>, Vec<PathBuf>)> {
    let (mut to_make, mut packed) = (Vec::new(), Vec::new());
    for (index, adapter, place) in adapter_file::all(app, env) {
        let AdapterFile::Beside(path) = place else { continue };
        let (from, to) = (folder.join(&path), data.join(&path));
        fs::create_dir_all(to.parent().unwrap_or(data))?;
        if from.is_file() {
            fs::copy(&from, &to)?;
            packed.push(path);
        } else if adapter.seed.is_some() {
            // The seed may have changed since the last build.
            if to.exists() {
                fs::remove_file(&to)?;
            }
            if to_make.last() != Some(&index) {
                to_make.push(index);
            }
            packed.push(path);
        }
    }
    Ok((to_make, packed))
}
