//! The compiled runtime of the Worker: packed with the command, or made with cargo, wasm-bindgen
//! and wasm-opt.
//!
//! It holds no app, so it is made once for all apps that need the same [`Parts`].

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use super::worker_parts::{Parts, WASM};
#[cfg(feature = "checkout")]
use crate::commands::build::checkout;
use crate::{
    commands::build::packed_runtimes::{self, RuntimeFile},
    output::{CommandError, CommandResult},
};

#[cfg(feature = "checkout")]
mod from_source;

/// A folder with a runtime that was made elsewhere, or with several, each in a folder named by its
/// parts: `lean`, `scripts-databases`.
const GIVEN: &str = "MILLRACE_WORKER_RUNTIME";

/// The files of the runtime.
///
/// # Errors
/// There is none, and no checkout to make it from, or a tool is missing or fails; or what was made
/// elsewhere lacks a part.
pub(super) fn ready(parts: &Parts) -> CommandResult<Vec<RuntimeFile>> {
    if let Some(given) = env::var_os(GIVEN).map(PathBuf::from) {
        return files_below(&chosen(&given, parts)?);
    }
    if let Some(folder) = packed_runtimes::folder()? {
        return packed_runtimes::worker(&folder, &parts.sufficient());
    }
    #[cfg(feature = "checkout")]
    return from_checkout(parts);
    #[cfg(not(feature = "checkout"))]
    Err(packed_runtimes::missing(GIVEN))
}

/// The files of the runtime, made from the checkout.
///
/// # Errors
/// The checkout is gone, or a tool is missing or fails.
#[cfg(feature = "checkout")]
pub(super) fn from_checkout(parts: &Parts) -> CommandResult<Vec<RuntimeFile>> {
    let root = checkout::root("worker").ok_or_else(|| packed_runtimes::missing(GIVEN))?;
    files_below(&from_source::made_in(root, parts)?)
}

/// Every file of a folder and of those below it.
fn files_below(folder: &Path) -> CommandResult<Vec<RuntimeFile>> {
    let mut files = Vec::new();
    read_below(folder, "", &mut files).map_err(|error| CommandError::Wrong(format!("`{}` cannot be read: {error}", folder.display())))?;
    Ok(files)
}

fn read_below(folder: &Path, prefix: &str, files: &mut Vec<RuntimeFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => read_below(&entry.path(), &format!("{name}/"), files)?,
            false => files.push((name, fs::read(entry.path())?)),
        }
    }
    Ok(())
}

/// The runtime to take of a folder with one or several.
fn chosen(given: &Path, parts: &Parts) -> CommandResult<PathBuf> {
    let sets = parts.sufficient();
    // A runtime that has no name is taken as it is. One that lacks a part says so when it starts.
    let found = sets.iter().map(|set| given.join(set)).chain([given.to_path_buf()]).find(|folder| folder.join(WASM).is_file());
    found.ok_or_else(|| {
        let wanted = sets.iter().map(|set| format!("`{set}/{WASM}`")).collect::<Vec<_>>().join(" or ");
        CommandError::Wrong(format!("`{GIVEN}` names `{}`, which contains no runtime for this app: {wanted}", given.display()))
    })
}
