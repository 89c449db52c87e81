//! A stand-in for MongoDB, because no package has a real one: its protocol over the Python packages
//! `pymongo`, `mongomock` and `scramp`, installed by `scripts/setup`. MongoDB's own client works
//! with it, which a test looks at.

use std::{fs, path::PathBuf, process::Command};

use millrace_core::Json;

use crate::{
    case::root,
    process::{Process, tool},
};

/// A running server; ends with the value. Its data are gone when it is killed.
pub struct Mongodb {
    /// The server.
    pub process: Process,
    folder: tempfile::TempDir,
}

/// Its Python.
///
/// # Panics
/// Where it is not installed.
#[must_use]
pub fn python() -> PathBuf {
    tool("servers-venv/bin/python")
}

/// Starts a server. `options` are those of `tests/servers/mongodb.py`.
///
/// # Panics
/// Where it is not installed, or does not come up.
#[must_use]
pub fn start(options: &[&str]) -> Mongodb {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    let (python, script, commands) = (python(), root().join("tests/servers/mongodb.py"), folder.path().join("commands"));
    let process = Process::start(move |_, port| {
        let mut command = Command::new(&python);
        command.arg(&script).arg(port.to_string()).arg(&commands).args(&options);
        command
    });
    Mongodb { process, folder }
}

impl Mongodb {
    /// Where the database `shop` is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("mongodb://127.0.0.1:{}/shop", self.process.port)
    }

    /// The commands that came after the login, in Extended JSON.
    ///
    /// # Panics
    /// Where they cannot be read.
    #[must_use]
    pub fn commands(&self) -> Vec<Json> {
        let text = fs::read_to_string(self.folder.path().join("commands")).unwrap_or_else(|error| panic!("{error}"));
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    }
}
