//! The function at a Runtime API that is not ours: `cargo lambda watch`.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use millrace_tests::{lambda, local::send};

use super::{call, sample};

/// A process that ends with the value.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn cargo_lambda_serves_the_function() {
    let (_folder, package) = sample();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // It looks for a package of cargo, and builds nothing of it.
    let empty = tempfile::tempdir().unwrap();
    fs::create_dir(empty.path().join("src")).unwrap();
    fs::write(empty.path().join("Cargo.toml"), "[package]\nname = \"nothing\"\nversion = \"0.0.0\"\nedition = \"2024\"\n").unwrap();
    fs::write(empty.path().join("src/main.rs"), "fn main() {}\n").unwrap();
    let mut watch = Command::new(lambda::installed("cargo-lambda"))
        .args(["lambda", "watch", "--only-lambda-apis", "-A", "127.0.0.1", "-P", &port.to_string()])
        .current_dir(empty.path())
        .env("CARGO", env!("CARGO"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map(Ending)
        .unwrap();
    let lines = BufReader::new(watch.0.stderr.take().unwrap()).lines();
    let (said, log) = mpsc::channel();
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(said.send(line))));
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "cargo lambda does not come up: {:?}", log.try_iter().collect::<Vec<_>>());
        std::thread::sleep(Duration::from_millis(20));
    }
    let scratch = tempfile::tempdir().unwrap();
    let api = format!("http://127.0.0.1:{port}/.rt");
    let mut command = lambda::command(&package, &api, scratch.path());
    // The name of the function that is asked where a path names none.
    command.env("AWS_LAMBDA_FUNCTION_NAME", "_");
    let _function = command.spawn().map(Ending).unwrap();
    for path in ["/mcp", "/lambda-url/_/mcp"] {
        let mut request = call("get-user", r#"{"id":42}"#);
        request.path = path.into();
        let answer = send(port, &request);
        assert!(answer.starts_with("HTTP 200\n") && answer.contains("Alan Allen"), "{path}: {answer}");
    }
}
