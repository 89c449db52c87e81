//! The core with ports that do nothing but answer: what benchmarks measure, with no connector, script or HTTP in it.

use std::{fs, rc::Rc};

use millrace_core::{
    Endpoint, Result,
    app::App,
    cancel::Cancel,
    headers::Headers,
    ports::{Connection, Connector, Connectors, LocalFuture, Ports, Query},
    protocol::{Body, Request},
    value::{Rows, Value},
};
use millrace_test_kit::Inert;

use crate::{case::root, direct::compile};

/// Answers every query with the same ten rows.
struct TenRows(Rows);

impl Connectors for TenRows {
    fn open(&self, _: Connection) -> Result<Rc<dyn Connector>> {
        Ok(Rc::new(Self(self.0.clone())))
    }
}

impl Connector for TenRows {
    fn query<'a>(&'a self, _: Query<'a>) -> LocalFuture<'a, Result<Rows>> {
        Box::pin(async { Ok(self.0.clone()) })
    }

    fn ping(&self, _: u64) -> LocalFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// The sample app on ports that only answer.
#[must_use]
pub fn endpoint() -> Endpoint {
    of(compile(&root()))
}

/// An app of so many tools, each as large as the sample app's `get-user`, on ports that only answer.
///
/// # Panics
/// Where the app cannot be written or does not compile.
#[must_use]
pub fn endpoint_with_tools(count: usize) -> Endpoint {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let write = |path: &str, text: &str| {
        let file = folder.path().join(path);
        let parent = file.parent().unwrap_or_else(|| panic!("{path}"));
        fs::create_dir_all(parent).and_then(|()| fs::write(&file, text)).unwrap_or_else(|error| panic!("{path}: {error}"));
    };
    write("millrace.yaml", "name: many\n");
    write("app/adapters/main.yaml", "connector: libsql\nconnection_string: http://127.0.0.1:1\n");
    for tool in 0..count {
        let config = format!(
            "description: Read user {tool} by id.\nuse: main\nstatement: SELECT id, name FROM users WHERE id = {{{{ inputs.id }}}}\ninputs:\n  id: {{ type: int, description: The user's id, min: 1 }}\n"
        );
        write(&format!("app/tools/get-user-{tool}/config.yaml"), &config);
    }
    of(compile(folder.path()))
}

fn of(app: App) -> Endpoint {
    let row = |id: i64| {
        let text = |text: &str| Value::Text(text.to_owned());
        vec![Value::I64(id), text("Alan Allen"), text("user42@example.com"), text("Lisbon"), text("2024-02-12")]
    };
    let columns: Vec<String> = ["id", "name", "email", "city", "created_at"].map(String::from).into();
    let rows = Rows { columns: columns.into(), rows: (1..=10).map(row).collect(), affected: 0 };
    let inert = Inert { now_ms: 1_767_225_600_000, random: 7, env: &[] };
    let ports = Ports { connectors: Rc::new(TenRows(rows)), ..inert.ports() };
    Endpoint::new(app, ports)
}

/// One `tools/call` of `get-user`, as a client of 2025-06-18 sends it.
#[must_use]
pub fn request() -> Request {
    post(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get-user","arguments":{"id":42}}}"#)
}

/// One `tools/list`, as a client of 2025-06-18 sends it.
#[must_use]
pub fn list_request() -> Request {
    post(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
}

fn post(body: &[u8]) -> Request {
    let mut headers = Headers::new();
    for (name, value) in [
        ("host", "127.0.0.1:8080"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-06-18"),
        ("user-agent", "bench"),
    ] {
        headers.append(name, value);
    }
    Request {
        method: "POST".to_owned(),
        path: "/mcp".to_owned(),
        headers,
        body: Body::Whole(body.to_vec()),
        deadline_ms: None,
        cancel: Cancel::new(),
        checks_host: true,
    }
}

/// Runs a future that never waits for the outside.
///
/// # Panics
/// Where it does wait.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the call waits for something"),
    }
}
