//! A built Worker in workerd itself, without wrangler around it: whether it starts, and what that costs.
//!
//! No bindings are there, so it is for what happens before the first request.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::worker::installed;

/// A running workerd; it ends with the value.
pub struct Workerd(Child);

impl Workerd {
    /// Starts the Worker of a folder, and waits for its first answer. Gives what it said where it ends instead.
    ///
    /// # Errors
    /// The Worker does not start.
    ///
    /// # Panics
    /// Where there is no workerd, or the folder holds no Worker.
    pub fn start(folder: &Path) -> Result<Self, String> {
        let port = free_port();
        let config = folder.join("workerd.capnp");
        fs::write(&config, configuration(folder, port)).unwrap_or_else(|error| panic!("{}: {error}", config.display()));
        let mut command = Command::new(installed("@cloudflare/workerd-linux-64/bin/workerd"));
        command.arg("serve").arg(&config).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut running = Self(command.spawn().unwrap_or_else(|error| panic!("workerd: {error}")));
        loop {
            if answers(port) {
                return Ok(running);
            }
            if running.0.try_wait().is_ok_and(|ended| ended.is_some()) {
                let said = running.0.stderr.take().map(std::io::read_to_string);
                return Err(said.and_then(Result::ok).unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The CPU time of its first thread, which compiles and runs the Worker, in milliseconds. What V8 improves meanwhile, other threads do.
    ///
    /// # Panics
    /// Where the system does not tell it.
    #[must_use]
    pub fn cpu_ms(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", self.0.id())).unwrap_or_else(|error| panic!("{error}"));
        let spent_ns: Option<f64> = text.split(' ').next().and_then(|number| number.parse().ok());
        spent_ns.unwrap_or_else(|| panic!("{text}")) / 1e6
    }
}

impl Drop for Workerd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a request gets an answer. It listens before it has started the Worker.
fn answers(port: u16) -> bool {
    let Ok(mut connection) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let sent = connection.write_all(b"GET /nothing HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    sent.is_ok() && connection.read(&mut [0; 12]).is_ok_and(|length| length > 0)
}

/// Every module of a folder, the entry first.
fn configuration(folder: &Path, port: u16) -> String {
    let mut modules = Vec::new();
    collect(folder, Path::new(""), &mut modules);
    modules.sort_by_key(|(name, _)| name != Path::new("entry.mjs"));
    assert!(modules.first().is_some_and(|(name, _)| name == Path::new("entry.mjs")), "{} has no entry.mjs", folder.display());
    let modules: Vec<String> =
        modules.iter().map(|(name, kind)| format!("(name = \"{0}\", {kind} = embed \"{0}\")", name.display())).collect();
    format!(
        "using Workerd = import \"/workerd/workerd.capnp\";\nconst config :Workerd.Config = (\n  services = [(name = \"main\", worker = (\n    \
         compatibilityDate = \"2026-11-01\",\n    compatibilityFlags = [\"enable_request_signal\"],\n    modules = [{}]))],\n  \
         sockets = [(name = \"http\", address = \"127.0.0.1:{port}\", http = (), service = \"main\")],\n);\n",
        modules.join(",\n      ")
    )
}

fn collect(folder: &Path, below: &Path, modules: &mut Vec<(PathBuf, &'static str)>) {
    for entry in fs::read_dir(folder.join(below)).into_iter().flatten().flatten() {
        let name = below.join(entry.file_name());
        let kind = match name.extension().and_then(|extension| extension.to_str()) {
            Some("mjs" | "js") => "esModule",
            Some("wasm") => "wasm",
            Some("bin") => "data",
            _ => {
                if entry.path().is_dir() {
                    collect(folder, &name, modules);
                }
                continue;
            }
        };
        modules.push((name, kind));
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
    listener.local_addr().unwrap_or_else(|error| panic!("{error}")).port()
}
