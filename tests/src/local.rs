//! A group against the real `millrace` process.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use crate::case::{Exchange, Group, answer, root};

/// The `millrace` binary of this build; built first where it is stale. With
/// `MILLRACE_TEST_COMMAND`, the command in that file instead: a published one.
///
/// # Panics
/// Where it cannot be built.
#[must_use]
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(command) = std::env::var_os("MILLRACE_TEST_COMMAND") {
            return root().join(command);
        }
        let mut build = Command::new(env!("CARGO"));
        // Build scripts look at what cargo says of the package that runs; they would take this
        // crate's for a change, and all be built anew.
        for (name, _) in std::env::vars_os() {
            if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
                build.env_remove(name);
            }
        }
        build.args(["build", "-p", "millrace", "--bin", "millrace", "--quiet", "--message-format=json-render-diagnostics"]);
        // What is measured in a release build is measured in the server, too.
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let build = build.current_dir(root()).stderr(Stdio::inherit()).output().unwrap_or_else(|error| panic!("cargo: {error}"));
        assert!(build.status.success(), "`cargo build -p millrace` failed");
        let executable = |line: &str| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(PathBuf::from(message.get("executable")?.as_str()?))
        };
        let found = String::from_utf8_lossy(&build.stdout).lines().filter_map(executable).next_back();
        found.unwrap_or_else(|| panic!("cargo names no executable"))
    })
}

/// A running `millrace dev` or `millrace serve`; ends with the value.
pub struct Host {
    child: Child,
    /// Where it listens.
    pub port: u16,
}

impl Host {
    /// Starts `millrace dev FOLDER` on a free port.
    ///
    /// # Panics
    /// Where it does not come up.
    #[must_use]
    pub fn dev(folder: &Path, env: &[(String, String)]) -> Self {
        Self::start(folder, env, "off", Stdio::null())
    }

    /// Starts `millrace serve BUNDLE` on a free port, with more arguments.
    ///
    /// # Panics
    /// Where it does not come up.
    #[must_use]
    pub fn serve(bundle: &Path, arguments: &[&str], env: &[(String, String)]) -> Self {
        let mut command = Command::new(binary());
        command.arg("serve").arg(bundle).args(["--port", "0", "--isolates", "1", "--log", "off"]).args(arguments);
        command.env_clear().envs(env.iter().cloned()).stderr(Stdio::null());
        Self::spawn(&mut command)
    }

    /// The same, with its log in a file.
    ///
    /// # Panics
    /// Where it does not come up.
    #[must_use]
    pub fn dev_logging(folder: &Path, env: &[(String, String)], level: &str, log: &Path) -> Self {
        let file = std::fs::File::create(log).unwrap_or_else(|error| panic!("{}: {error}", log.display()));
        Self::start(folder, env, level, file.into())
    }

    /// Starts `millrace dev FOLDER` on a free port with more arguments, and with its log in a file.
    /// The shell runs `before` first.
    ///
    /// # Panics
    /// Where it does not come up.
    #[must_use]
    pub fn dev_after(before: &str, folder: &Path, arguments: &[&str], env: &[(String, String)], log: &Path) -> Self {
        let file = std::fs::File::options().create(true).append(true).open(log);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{before}\nexec \"$0\" \"$@\"")]).arg(binary());
        command.arg("dev").arg(folder).args(["--port", "0", "--log", "warn"]).args(arguments);
        command.env_clear().envs(env.iter().cloned()).stderr(file.unwrap_or_else(|error| panic!("{}: {error}", log.display())));
        Self::spawn(&mut command)
    }

    fn start(folder: &Path, env: &[(String, String)], level: &str, log: Stdio) -> Self {
        let mut command = Command::new(binary());
        command.arg("dev").arg(folder).args(["--port", "0", "--isolates", "1", "--log", level]);
        command.env_clear().envs(env.iter().cloned()).stderr(log);
        Self::spawn(&mut command)
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap_or_else(|error| panic!("millrace: {error}"));
        let lines = BufReader::new(child.stdout.take().unwrap_or_else(|| panic!("no stdout"))).lines();
        let port_of = |line: String| {
            let (_, rest) = line.split_once("://127.0.0.1:")?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let mut lines = lines.map_while(Result::ok);
        let port = lines.find_map(port_of).unwrap_or_else(|| panic!("{command:?} names no address"));
        // Somebody must read on, or the process stops at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port }
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends one request on a connection of its own.
    ///
    /// # Panics
    /// Where the connection breaks.
    #[must_use]
    pub fn send(&self, request: &Exchange) -> String {
        send(self.port, request)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends one request to a port of this machine, on a connection of its own.
///
/// # Panics
/// Where the connection breaks.
#[must_use]
pub fn send(port: u16, request: &Exchange) -> String {
    let mut head = format!("{} {} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n", request.method, request.path, port);
    for (name, value) in &request.headers {
        head += &format!("{name}: {value}\r\n");
    }
    if !request.body.is_empty() || request.method == "POST" {
        head += &format!("content-length: {}\r\n", request.body.len());
    }
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap_or_else(|error| panic!("{error}"));
    stream.write_all((head + "\r\n" + &request.body).as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap_or_else(|error| panic!("{error}"));
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("no response to {request:?}"));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let headers = lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    let headers: Vec<(String, String)> = headers.collect();
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = &bytes[end + 4..];
    answer(request, status, headers, &if chunked { joined(body) } else { body.to_vec() })
}

/// The body that arrived in chunks.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n").unwrap_or_else(|| panic!("the body breaks off"));
        let length =
            usize::from_str_radix(&String::from_utf8_lossy(&rest[..end]), 16).unwrap_or_else(|error| panic!("a chunk's length: {error}"));
        if length == 0 {
            return whole;
        }
        whole.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 4 + length..];
    }
}

/// The answers of every case of a group, case by case.
///
/// # Panics
/// Where the host does not come up.
#[must_use]
pub fn run(group: &Group) -> Vec<Vec<String>> {
    run_logging(group, &[], |_, _| {}).0
}

/// The same with more variables, and what the host has logged, at the level `debug`. `last` gets the
/// host once all is answered.
///
/// # Panics
/// As [`run`].
#[must_use]
pub fn run_logging(group: &Group, more: &[(String, String)], last: impl FnOnce(&Host, &[Vec<String>])) -> (Vec<Vec<String>>, String) {
    let folder = group.install();
    let log = folder.path().join("stderr.log");
    // Without it, `dev` would make a key for the run, and answer other than a deployment without
    // one.
    let no_key = ("MILLRACE_STATE_KEY".to_owned(), String::new());
    let env: Vec<_> = std::iter::once(no_key).chain(group.env.iter().chain(more).cloned()).collect();
    let host = Host::dev_logging(folder.path(), &env, "debug", &log);
    let answers: Vec<Vec<String>> =
        group.cases.iter().map(|case| case.requests.iter().map(|request| host.send(request)).collect()).collect();
    last(&host, &answers);
    drop(host);
    (answers, std::fs::read_to_string(&log).unwrap_or_else(|error| panic!("{}: {error}", log.display())))
}
