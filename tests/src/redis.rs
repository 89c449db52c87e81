//! A real Redis server, from Debian's package, installed by `scripts/setup`.

use std::{path::Path, process::Command};

use crate::process::Process;

/// Starts a server in a folder of its own. What it is told is kept in a file, so it survives [`Process::kill`]. `options` are its options.
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
pub fn start_tls(prepare: impl Fn(&Path) + Send + 'static) -> Process {
    start_prepared(&["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem", "--tls-auth-clients", "no", "--tls-port"], prepare)
}

fn start_prepared(options: &[&str], prepare: impl Fn(&Path) + Send + 'static) -> Process {
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
