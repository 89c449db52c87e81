//! A built Worker in workerd itself, without wrangler around it: whether it starts, and what that costs.
//!
//! No bindings are there, so it is for what happens before the first request.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::worker::installed;

/// A running workerd; it ends with the value.
pub struct Workerd(Child);

impl Workerd {
    /// Starts the Worker of a folder, and waits until it listens. Gives what it said where it ends instead.
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
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(running);
            }
            if running.0.try_wait().is_ok_and(|ended| ended.is_some()) {
                let said = running.0.stderr.take().map(std::io::read_to_string);
                return Err(said.and_then(Result::ok).unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The CPU time of all its threads, in milliseconds.
    ///
    /// # Panics
    /// Where the system does not tell it.
    #[must_use]
    pub fn cpu_ms(&self) -> f64 {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap_or_else(|error| panic!("{error}"));
        let spent_ns = threads.flatten().filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        });
        spent_ns.sum::<f64>() / 1e6
    }
}

impl Drop for Workerd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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
