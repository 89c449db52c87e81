//! The checkout of Millrace that runtimes are made in.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use millrace_core::Json;

use crate::output::{CommandError, CommandResult};

/// The checkout that this binary was made in, while it is there. `runtime` is what is to be made.
pub(super) fn root(runtime: &str) -> Option<&'static Path> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    root.join("adapters").join(runtime).join("Cargo.toml").is_file().then_some(root)
}

/// A folder that the variable names and `scripts/setup` fills, or what is in `PATH`.
pub(super) fn path(root: &Path, folder: &str) -> OsString {
    let rest = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(root.join("target/tools").join(folder)).chain(env::split_paths(&rest))).unwrap_or(rest)
}

/// Runs cargo, which does nothing where nothing changed, and gives the file of that name among what
/// it made.
///
/// # Errors
/// It cannot be started or fails; `failure` says so.
pub(super) fn cargo(cargo: &mut Command, file: &str, failure: &str) -> CommandResult<PathBuf> {
    // Below another cargo: build scripts would take what it says of its package for a change, and
    // all be built anew.
    for (name, _) in env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    cargo.args(["--message-format", "json-render-diagnostics"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| CommandError::Wrong(format!("cargo cannot be started: {error}")))?;
    if !output.status.success() {
        return Err(CommandError::Wrong(failure.into()));
    }
    let made = |line: &str| {
        let message: Json = serde_json::from_str(line).ok()?;
        let files = message.get("filenames")?.as_array()?;
        files.iter().filter_map(Json::as_str).map(PathBuf::from).find(|path| path.file_name().is_some_and(|name| name == file))
    };
    let found = String::from_utf8_lossy(&output.stdout).lines().filter_map(made).next_back();
    found.ok_or_else(|| CommandError::Wrong(format!("cargo names no file `{file}`")))
}
