//! The runtimes that a published command brings along, packed.
//!
//! ```text
//! DIR/VERSION              the version of Millrace that made them
//! DIR/worker.tar.xz        the Worker's runtimes, each in a folder named by its parts: lean, scripts, databases, scripts-databases
//! DIR/bootstrap-x86_64.xz  Lambda's runtime for Intel and AMD
//! DIR/bootstrap-arm64.xz   Lambda's runtime for Graviton
//! ```
//!
//! `scripts/release` writes the folder. It is looked for in `MILLRACE_RUNTIMES`, which the npm
//! package sets, and then beside the command, in `runtimes`.

use std::{
    env, fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use lzma_rust2::XzReader;

use crate::output::{CommandError, CommandResult};

/// The folder, where it is not beside the command.
const FOLDER: &str = "MILLRACE_RUNTIMES";
/// The version that a runtime has to have: its apps are encoded for it.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// More than a runtime has: an archive that holds more is not one of ours.
const LIMIT: u64 = 256 << 20;

/// A file of a runtime: its name, with `/` between folders, and its bytes.
pub(super) type RuntimeFile = (String, Vec<u8>);

/// The folder of packed runtimes; `None` where the command has none.
///
/// # Errors
/// They are of another version, or the variable names no such folder.
pub(super) fn folder() -> CommandResult<Option<PathBuf>> {
    if let Some(named) = env::var_os(FOLDER).map(PathBuf::from) {
        return check(&named).map(|()| Some(named));
    }
    let beside = env::current_exe().ok().and_then(|command| fs::canonicalize(command).ok()?.parent().map(|folder| folder.join("runtimes")));
    match beside.filter(|folder| folder.join("VERSION").is_file()) {
        Some(folder) => check(&folder).map(|()| Some(folder)),
        None => Ok(None),
    }
}

fn check(folder: &Path) -> CommandResult {
    let found = fs::read_to_string(folder.join("VERSION"))
        .map_err(|error| CommandError::Wrong(format!("`{}` contains no runtimes of Millrace: `VERSION`: {error}", folder.display())))?;
    match found.trim() {
        VERSION => Ok(()),
        other => Err(CommandError::Wrong(format!(
            "the runtimes in `{}` are of Millrace {other}, and this command is {VERSION}; install the same version of both",
            folder.display()
        ))),
    }
}

/// The files of the Worker's runtime in one of these folders of the archive, the first that is
/// there.
///
/// # Errors
/// The archive cannot be read, or has none of them.
pub(super) fn worker(folder: &Path, names: &[String]) -> CommandResult<Vec<RuntimeFile>> {
    let path = folder.join("worker.tar.xz");
    let files = files_of(&path).map_err(|error| unreadable(&path, &error))?;
    let found = names.iter().find_map(|name| {
        let prefix = format!("{name}/");
        let own = files.iter().filter_map(|(file, bytes)| Some((file.strip_prefix(&prefix)?.to_owned(), bytes.clone())));
        let own: Vec<RuntimeFile> = own.collect();
        (!own.is_empty()).then_some(own)
    });
    found.ok_or_else(|| CommandError::Wrong(format!("`{}` contains no runtime for this app: {}", path.display(), names.join(" or "))))
}

fn files_of(path: &Path) -> io::Result<Vec<RuntimeFile>> {
    let unpacked = XzReader::new(fs::File::open(path)?, true).take(LIMIT);
    let mut archive = tar::Archive::new(unpacked);
    let mut files = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry.path()?.to_string_lossy().replace('\\', "/");
        // A name that leads out of the build's folder is written nowhere.
        if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("`{name}` is not a file's name within the archive")));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.push((name, bytes));
    }
    Ok(files)
}

/// Lambda's runtime for a processor, by Lambda's word for it.
///
/// # Errors
/// It cannot be read.
pub(super) fn bootstrap(folder: &Path, architecture: &str) -> CommandResult<Vec<u8>> {
    let path = folder.join(format!("bootstrap-{architecture}.xz"));
    let read = || {
        let mut bytes = Vec::new();
        XzReader::new(fs::File::open(&path)?, true).take(LIMIT).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error: io::Error| unreadable(&path, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::Wrong(format!("the runtime `{}` cannot be read: {error}", path.display()))
}

/// There is no runtime to be had. `given` is the variable that names a finished one.
pub(super) fn missing(given: &str) -> CommandError {
    CommandError::Wrong(format!(
        "this command has no runtimes to deploy with: `npm install millrace` brings them; else set `{FOLDER}` to the folder `runtimes` of a release, \
         or `{given}` to a finished runtime"
    ))
}
