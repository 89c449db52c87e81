//! A function at a Runtime API that is not ours, with HTTP in front: `cargo lambda watch`.

use std::{
    fs,
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use super::{command, installed};

/// A process that ends with the value.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A function and what stands before it; both end with the value.
pub struct Watch {
    /// Where requests go, at the function's own paths.
    pub port: u16,
    _function: KillOnDrop,
    _front: KillOnDrop,
    _folders: [tempfile::TempDir; 2],
}

impl Watch {
    /// Starts a package behind a port, with these variables of its own.
    ///
    /// # Panics
    /// Where it does not come up.
    #[must_use]
    pub fn start(package: &Path, env: &[(String, String)], port: u16) -> Self {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap_or_else(|error| panic!("{error}")));
        // It looks for a package of cargo, and builds nothing of it.
        let empty = folders[0].path();
        let manifest = "[package]\nname = \"nothing\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
        for (name, text) in [("Cargo.toml", manifest), ("src/main.rs", "fn main() {}\n")] {
            let file = empty.join(name);
            fs::create_dir_all(file.parent().unwrap_or(empty))
                .and_then(|()| fs::write(file, text))
                .unwrap_or_else(|error| panic!("{error}"));
        }
        let log = fs::File::create(empty.join("log")).unwrap_or_else(|error| panic!("{error}"));
        let front = Command::new(installed("cargo-lambda"))
            .args(["lambda", "watch", "--only-lambda-apis", "-A", "127.0.0.1", "-P", &port.to_string()])
            .current_dir(empty)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map(KillOnDrop)
            .unwrap_or_else(|error| panic!("cargo-lambda: {error}"));
        let said = || fs::read_to_string(empty.join("log")).unwrap_or_default();
        crate::wait::until_else(
            || format!("cargo lambda does not come up: {}", said()),
            || TcpStream::connect(("127.0.0.1", port)).is_ok(),
        );
        let mut function = command(package, &format!("http://127.0.0.1:{port}/.rt"), folders[1].path());
        // The name of the function that is asked where a path names none.
        function.env("AWS_LAMBDA_FUNCTION_NAME", "_").envs(env.iter().cloned());
        let function = function.spawn().map(KillOnDrop).unwrap_or_else(|error| panic!("{}: {error}", package.display()));
        Self { port, _function: function, _front: front, _folders: folders }
    }

    /// A port that nobody has.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn free_port() -> u16 {
        crate::process::free_port()
    }
}
