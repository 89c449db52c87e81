//! A stand-in for ClickHouse, because no package has its server: the HTTP interface over the Python
//! package `chdb`, which is ClickHouse's engine, installed by `scripts/setup`. ClickHouse's own
//! client works with it, which a test looks at.

use std::{
    fs,
    net::TcpStream,
    path::PathBuf,
    process::Command,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use millrace_core::ports::Connection;

use crate::{
    case::root,
    database::{Database, connection},
    process::{Process, SHARED_FOLDER, WatchedProcess, free_port, tool},
};

/// Its Python.
///
/// # Panics
/// Where it is not installed.
#[must_use]
pub fn python() -> PathBuf {
    tool("servers-venv/bin/python")
}

/// Starts a server, which keeps its data when it is killed. `options` are those of
/// `tests/servers/clickhouse.py`.
///
/// # Panics
/// Where it is not installed, or does not come up.
#[must_use]
pub fn start(options: &[&str]) -> Process {
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    let (python, script) = (python(), root().join("tests/servers/clickhouse.py"));
    Process::start(move |_, port| {
        let mut command = Command::new(&python);
        command.arg(&script).arg(port.to_string()).args(&options);
        command
    })
}

/// Where a server is.
#[must_use]
pub fn url(server: &Process) -> String {
    format!("http://127.0.0.1:{}", server.port)
}

/// The adapter's settings for a server.
#[must_use]
pub fn settings(server: &Process, options: &[(&str, &str)]) -> Connection {
    connection("clickhouse", &url(server), options)
}

/// An adapter on a server without users.
#[must_use]
pub fn open(server: &Process) -> Database {
    Database::open(settings(server, &[]))
}

/// A database that a group of cases wants: its name is known at once, the server starts when the
/// first is made.
pub struct LazyDatabase {
    name: String,
    sql: String,
}

impl LazyDatabase {
    /// A database filled by SQL: statements, each with a `;` at the end of its last line.
    #[must_use]
    pub fn new(sql: String) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        Self { name: format!("group_{}", COUNT.fetch_add(1, Ordering::Relaxed)), sql }
    }

    /// Where it will be.
    #[must_use]
    pub fn url(&self) -> String {
        format!("clickhouse://127.0.0.1:{}/{}", shared_port(), self.name)
    }

    /// Makes it, anew where it was made before.
    ///
    /// # Panics
    /// Where that fails.
    pub fn make(&self) {
        static SHARED: OnceLock<(Mutex<WatchedProcess>, tempfile::TempDir)> = OnceLock::new();
        SHARED.get_or_init(shared);
        let run = |database: &Database, sql: &str| drop(database.run(sql, &[]).unwrap_or_else(|error| panic!("{sql}: {error:?}")));
        let (name, whole) =
            (&self.name, Database::open(connection("clickhouse", &format!("clickhouse://127.0.0.1:{}", shared_port()), &[])));
        run(&whole, &format!("DROP DATABASE IF EXISTS {name}"));
        run(&whole, &format!("CREATE DATABASE {name}"));
        let own = Database::open(connection("clickhouse", &self.url(), &[]));
        self.sql.split(";\n").filter(|sql| !sql.trim().is_empty()).for_each(|sql| run(&own, sql));
    }
}

/// The server that the groups of this process share. It ends with the process.
fn shared() -> (Mutex<WatchedProcess>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let (python, script, port) = (python(), root().join("tests/servers/clickhouse.py"), shared_port().to_string());
    let mut shell = Command::new("/bin/sh");
    shell.current_dir(folder.path()).env(SHARED_FOLDER, folder.path());
    let command = [python.as_os_str(), script.as_os_str(), port.as_ref()];
    let process = WatchedProcess::start(shell, "KILL", &command, &folder.path().join("log"));
    let log = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    crate::wait::until_else(
        || format!("the stand-in for ClickHouse does not come up: {}", log()),
        || TcpStream::connect(("127.0.0.1", shared_port())).is_ok(),
    );
    (Mutex::new(process), folder)
}

/// The port of the server that the groups of this process share.
fn shared_port() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(free_port)
}
