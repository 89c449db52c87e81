//! A server of somebody else's, started for a test: it can be killed without a warning and started
//! again.

use std::{
    env,
    ffi::OsStr,
    fs,
    net::{TcpListener, TcpStream},
    ops::Range,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use crate::case::root;

/// How long a server may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes the command that starts a server in a folder, on a port.
type Start = dyn Fn(&Path, u16) -> Command + Send + Sync;

/// A running server with a folder of its own; ends with the value.
pub struct Process {
    child: Child,
    folder: tempfile::TempDir,
    command: Box<Start>,
    /// Where it listens.
    pub port: u16,
}

impl Process {
    /// Starts a server; `command` is told its folder, which is also where it starts, and the port
    /// of 127.0.0.1 to listen on.
    ///
    /// # Panics
    /// Where it cannot be started, or does not come up.
    #[must_use]
    pub fn start(command: impl Fn(&Path, u16) -> Command + Send + Sync + 'static) -> Self {
        Self::start_on(free_port(), command)
    }

    /// The same on a port that somebody knows already.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub(crate) fn start_on(port: u16, command: impl Fn(&Path, u16) -> Command + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let child = spawn(command(folder.path(), port), folder.path());
        let mut process = Self { child, folder, command: Box::new(command), port };
        process.wait();
        process
    }

    /// Ends the server without a warning; its folder stays.
    ///
    /// # Panics
    /// Where that fails.
    pub fn kill(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Sends a signal, such as `STOP`, to the server. After `STOP`, it stands still.
    ///
    /// # Panics
    /// Where that fails.
    pub fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// What it has said so far.
    ///
    /// # Panics
    /// Where that cannot be read.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The time of processors that it took, in hundredths of a second.
    pub(crate) fn cpu_ticks(&self) -> usize {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_else(|error| panic!("{error}"));
        // The name of the program is in parentheses; the 12th and 13th fields after it are its own
        // time and the system's.
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        fields.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<usize>().ok()).sum()
    }

    /// Starts the server again after [`kill`](Self::kill), on the same port and folder.
    ///
    /// # Panics
    /// Where it does not come up.
    pub fn restart(&mut self) {
        self.child = spawn((self.command)(self.folder.path(), self.port), self.folder.path());
        self.wait();
    }

    fn wait(&mut self) {
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.child.try_wait().ok().flatten();
            assert!(ended.is_none() && started.elapsed() < PATIENCE, "a server does not come up ({ended:?}):\n{}", self.log());
            crate::wait::moment();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill().and_then(|()| self.child.wait()));
    }
}

/// Runs what follows, and ends it when the process that started this ends, however it ends. Then it
/// removes the folder of a server that a whole process shared: nothing that is kept for the process
/// is dropped.
const WATCH: &str = r#""$@" & pid=$!; read -r _; kill -"$0" $pid; wait $pid; [ -z "$SHARED_FOLDER" ] || rm -rf "$SHARED_FOLDER""#;

/// The variable of [`WATCH`].
pub(crate) const SHARED_FOLDER: &str = "SHARED_FOLDER";

/// A process that ends with the value, and with the process that started it.
pub(crate) struct WatchedProcess(Child);

impl WatchedProcess {
    /// `shell` runs `/bin/sh`, as whoever it is to be; `signal` is the one that ends the process at
    /// once.
    pub(crate) fn start(mut shell: Command, signal: &str, command: &[&OsStr], log: &Path) -> Self {
        let out = fs::File::create(log).unwrap_or_else(|error| panic!("{error}"));
        let err = out.try_clone().unwrap_or_else(|error| panic!("{error}"));
        shell.args(["-c", WATCH, signal]).args(command).stdin(Stdio::piped()).stdout(out).stderr(err);
        Self(shell.spawn().unwrap_or_else(|error| panic!("{}: {error}", command[0].display())))
    }
}

impl Drop for WatchedProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

/// Where `scripts/setup` installs.
pub(crate) fn tools() -> PathBuf {
    env::var_os("MILLRACE_TEST_TOOLS").map_or_else(|| root().join("target/tools"), PathBuf::from)
}

/// A file below where `scripts/setup` installs.
///
/// # Panics
/// Where it is not there.
#[must_use]
pub fn tool(path: &str) -> PathBuf {
    let file = tools().join(path);
    assert!(file.exists(), "`{}` is missing: run scripts/setup", file.display());
    file
}

fn spawn(mut command: Command, folder: &Path) -> Child {
    let log = fs::File::create(folder.join("log")).unwrap_or_else(|error| panic!("{error}"));
    let log_too = log.try_clone().unwrap_or_else(|error| panic!("{error}"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(log).stderr(log_too);
    command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Sends a signal, such as `STOP`, to a process. After `STOP`, it stands still.
///
/// # Panics
/// Where that fails.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "the process takes no signal {name}");
    let started = Instant::now();
    while name == "STOP" && has_running_threads(pid) {
        assert!(started.elapsed() < PATIENCE, "the process does not stop");
        crate::wait::moment();
    }
}

/// Whether any thread is not stopped, as far as the system says so: a signal is sent before it is
/// obeyed.
fn has_running_threads(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let states = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
    // The state follows the name of the program, which is in parentheses.
    states.into_iter().any(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('T')))
}

/// A port that is free, and that nobody else is given: a server may come up on it much later, or
/// again after it was killed. So it is none of those that the system gives to connections, any of
/// which could have it by then.
#[must_use]
pub fn free_port() -> u16 {
    /// Linux gives connections ports from 32,768 on, other systems from 49,152 on.
    const PORTS: Range<u32> = 10_240..32_768;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let count = PORTS.end - PORTS.start;
    // Other processes of tests begin elsewhere.
    let start = std::process::id().wrapping_mul(2_654_435_761) % count;
    let ports = || (start + NEXT.fetch_add(1, Ordering::Relaxed)) % count + PORTS.start;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = (0..count).map(|_| ports()).filter_map(|port| u16::try_from(port).ok()).find(is_free);
    port.unwrap_or_else(|| panic!("no port of {PORTS:?} is free"))
}

/// The processes that a process has started and that have not ended, by their ids.
///
/// # Panics
/// Where the system says something else than numbers.
#[must_use]
pub fn children(parent: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap_or_else(|error| panic!("{error}: {text}"))).collect()
}
