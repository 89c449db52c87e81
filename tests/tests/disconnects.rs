//! Callers that go away in the middle of a statement of the embedded engine, which holds the
//! isolate's thread: it ends, and the next call is answered.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use millrace_tests::files::write;
use millrace_tests::{
    local::{Host, binary},
    stdio::Pipe,
};
use serde_json::json;

/// Far less than the statement takes, and than the time that it may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long an isolate answers nobody that is busy.
const BUSY: Duration = Duration::from_millis(500);

fn app(folder: &Path) {
    for (path, text) in [
        ("millrace.yaml", "name: slow\n"),
        ("app/adapters/main.yaml", "connector: sqlite\nconnection_string: \"file:main.db\"\noptions: { create: true, timeout: 10m }\n"),
        (
            "app/tools/slow/config.yaml",
            "description: Counts for minutes.\nuse: main\nlimits: { timeout: 10m }\nstatement: WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000000000) SELECT max(i) AS i FROM n\n",
        ),
        (
            "app/tools/slow-write/config.yaml",
            "description: Writes for minutes.\nuse: main\nlimits: { timeout: 10m }\nstatement: CREATE TABLE t AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4000000000) SELECT max(i) AS i FROM n\n",
        ),
        ("app/tools/tables/config.yaml", "description: Tables.\nuse: main\nstatement: SELECT count(*) AS n FROM sqlite_schema\n"),
    ] {
        write(folder, path, text);
    }
}

fn ask(port: u16, tool: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {} } }).to_string();
    let head = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    stream.write_all(format!("{head}mcp-protocol-version: 2025-06-18\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    stream
}

/// Whether nothing comes for a while.
fn is_silent(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(BUSY)).unwrap();
    let read = stream.read(&mut [0]);
    read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

#[test]
fn a_client_that_leaves_stops_its_statement() {
    let folder = tempfile::tempdir().unwrap();
    app(folder.path());
    let log = folder.path().join("log.txt");
    let host = Host::dev_logging(folder.path(), &[], "info", &log);
    for tool in ["slow", "slow-write"] {
        let leaving = ask(host.port, tool);
        // The next one is read when the isolate is free again: it is busy from when this one is not
        // answered.
        let mut next = ask(host.port, "tables");
        while !is_silent(&mut next) {
            next = ask(host.port, "tables");
        }
        let left = Instant::now();
        drop(leaving);
        next.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = String::new();
        next.read_to_string(&mut answer).unwrap();
        println!("{tool}: the next call was answered {:?} after its caller had left", left.elapsed());
        assert!(answer.contains(r#"{\"n\":0}"#), "{answer}");
        assert!(left.elapsed() < PATIENCE);
    }
    let began = Instant::now();
    loop {
        let log = fs::read_to_string(&log).unwrap();
        if log.matches("code=CANCELLED").count() == 2 || log.matches(r#"code="CANCELLED""#).count() == 2 {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{log}");
        millrace_tests::wait::moment();
    }
}

#[test]
fn a_client_on_standard_input_that_cancels_stops_its_statement() {
    let folder = tempfile::tempdir().unwrap();
    app(folder.path());
    let folder = folder.path().to_str().unwrap();
    for arguments in [&["run", folder][..], &["dev", folder, "--stdio", "--threads"]] {
        let mut command = Command::new(binary());
        let mut pipe = Pipe::spawn(command.args(arguments).arg("--log").arg("off").stderr(Stdio::null()));
        pipe.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }).to_string());
        assert_eq!(pipe.message()["id"], 0);
        let call = |id: u32, tool: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": {} } });
        pipe.send(&call(1, "slow").to_string());
        pipe.send(&call(2, "tables").to_string());
        // Nothing is answered that comes while the statement runs, apart from what cancels it.
        let left = Instant::now();
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }).to_string());
        let answer = pipe.message();
        assert_eq!(answer["id"], 2, "{answer}");
        assert!(answer.to_string().contains(r#"\"n\":0"#) || answer["result"]["structuredContent"]["result"][0]["n"] == 0, "{answer}");
        assert!(left.elapsed() < PATIENCE, "{arguments:?}");
    }
}
