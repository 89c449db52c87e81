//! A real Redis server, from Debian's package, installed by `scripts/setup`.

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::process::{Process, WatchedProcess, free_port};

/// Starts a server in a folder of its own. What it is told is kept in a file, so it survives
/// [`Process::kill`]. `options` are its options.
///
/// # Panics
/// Where it is not installed, or does not come up.
#[must_use]
pub fn start(options: &[&str]) -> Process {
    start_prepared(options, |_| {})
}

/// The same, with TLS only; `prepare` puts `cert.pem` and `key.pem` into the folder.
///
/// # Panics
/// Where it is not installed, or does not come up.
#[must_use]
pub fn start_tls(prepare: impl Fn(&Path) + Send + Sync + 'static) -> Process {
    start_prepared(&["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem", "--tls-auth-clients", "no", "--tls-port"], prepare)
}

fn start_prepared(options: &[&str], prepare: impl Fn(&Path) + Send + Sync + 'static) -> Process {
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    Process::start(move |folder, port| {
        prepare(folder);
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always"]).args(&options);
        match options.last() {
            Some(last) if last == "--tls-port" => command.arg(port.to_string()).args(["--port", "0"]),
            _ => command.arg("--port").arg(port.to_string()),
        };
        command
    })
}

/// A database that a group of cases wants: its number is known at once, the server starts when the
/// first is made.
pub struct LazyDatabase {
    number: usize,
    commands: String,
}

/// How many databases the shared server has. Groups are read more often than they are made.
const DATABASES: usize = 4096;

impl LazyDatabase {
    /// A database filled by commands, one a line, in the quotes of `redis-cli`. A line that begins
    /// with `#` is none.
    ///
    /// # Panics
    /// Where there are too many.
    #[must_use]
    pub fn new(commands: String) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(1);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        assert!(number < DATABASES, "more groups want a database of Redis than there are");
        Self { number, commands }
    }

    /// Where it will be.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/{}", shared_port(), self.number)
    }

    /// Its number.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Makes it, anew where it was made before.
    ///
    /// # Panics
    /// Where that fails.
    pub fn make(&self) {
        static SHARED: OnceLock<(Mutex<WatchedProcess>, tempfile::TempDir)> = OnceLock::new();
        SHARED.get_or_init(shared);
        let mut client = Command::new("redis-cli");
        client.args(["-h", "127.0.0.1", "-e", "-p", &shared_port().to_string(), "-n", &self.number.to_string()]);
        let child = client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("redis-cli: {error}"));
        let lines: Vec<&str> = self.commands.lines().filter(|line| !line.starts_with('#')).collect();
        let written = child.stdin.take().map(|mut stdin| stdin.write_all(format!("FLUSHDB\n{}\n", lines.join("\n")).as_bytes()));
        let output = child.wait_with_output().unwrap_or_else(|error| panic!("redis-cli: {error}"));
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        // It ends with success whatever the server says.
        let is_good = written.is_some_and(|written| written.is_ok()) && output.status.success();
        let is_error = |line: &&str| line.starts_with("ERR") || line.starts_with("WRONG") || line.contains("(error)");
        assert!(is_good && !said.lines().any(|line| is_error(&line)), "redis-cli: {said}");
    }
}

/// The server that the groups of this process share. It ends with the process.
fn shared() -> (Mutex<WatchedProcess>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let mut shell = Command::new("/bin/sh");
    shell.current_dir(folder.path());
    let (port, databases) = (shared_port().to_string(), DATABASES.to_string());
    let command = ["redis-server", "--bind", "127.0.0.1", "--save", "", "--databases", &databases, "--port", &port].map(OsStr::new);
    let process = WatchedProcess::start(shell, "KILL", &command, &folder.path().join("log"));
    let log = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    crate::wait::until_else(
        || format!("the Redis server does not come up: {}", log()),
        || TcpStream::connect(("127.0.0.1", shared_port())).is_ok(),
    );
    (Mutex::new(process), folder)
}

/// The port of the server that the groups of this process share.
#[must_use]
pub fn shared_port() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(free_port)
}
