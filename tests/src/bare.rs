//! The core with ports that do nothing but answer: what benchmarks measure, with no connector,
//! script or HTTP in it.

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

/// Answers every query with the same rows.
struct SameRows(Rows);

impl Connectors for SameRows {
    fn open(&self, _: Connection) -> Result<Rc<dyn Connector>> {
        Ok(Rc::new(Self(self.0.clone())))
    }
}

impl Connector for SameRows {
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

/// An app of so many tools, each as large as the sample app's `get-user`, on ports that only
/// answer.
///
/// # Panics
/// Where the app cannot be written or does not compile.
#[must_use]
pub fn endpoint_with_tools(count: usize) -> Endpoint {
    let mut files = vec![
        ("millrace.yaml".to_owned(), "name: many\n".to_owned()),
        ("app/adapters/main.yaml".to_owned(), "connector: libsql\nconnection_string: http://127.0.0.1:1\n".to_owned()),
    ];
    for tool in 0..count {
        let config = format!(
            "description: Read user {tool} by id.\nuse: main\nstatement: SELECT id, name FROM users WHERE id = {{{{ inputs.id }}}}\ninputs:\n  id: {{ type: int, description: The user's id, min: 1 }}\n"
        );
        files.push((format!("app/tools/get-user-{tool}/config.yaml"), config));
    }
    of(compiled(&files))
}

/// What stands before the tool of [`endpoint_with_entries`].
#[derive(Clone, Copy, Debug)]
pub enum Entries {
    /// Nothing.
    None,
    /// A value, a condition and an audit line, none of which starts a script.
    Declarative,
    /// Three scripts, each in a file of its own.
    Scripts,
}

/// An app with one tool, `get-user`, behind these entries of middleware, on ports that only answer,
/// the script engine apart.
///
/// # Panics
/// Where the app cannot be written or does not compile.
#[must_use]
pub fn endpoint_with_entries(entries: Entries) -> Endpoint {
    let middleware = match entries {
        Entries::None => "",
        Entries::Declarative => {
            "middleware:\n  - derive: { label: \"user {{ inputs.id }}\" }\n  - require: { when: \"inputs.id > 0 && ctx.label != ''\" }\n  \
             - audit: { inputs: names }\n"
        }
        Entries::Scripts => "middleware: [./app/a.ts, ./app/b.ts, ./app/c.ts]\n",
    };
    let script = "export default ({ inputs }) => ({ NAME: inputs.id + 1 });\n";
    let tool = "description: Read a user by id.\nuse: main\nstatement: SELECT id, name FROM users WHERE id = {{ inputs.id }}\ninputs:\n  id: { type: int, min: 1 }\n";
    let mut files = vec![
        ("millrace.yaml", format!("name: one\n{middleware}")),
        ("app/adapters/main.yaml", "connector: libsql\nconnection_string: http://127.0.0.1:1\n".to_owned()),
        ("app/tools/get-user/config.yaml", tool.to_owned()),
    ];
    files.extend([("app/a.ts", "a"), ("app/b.ts", "b"), ("app/c.ts", "c")].map(|(path, name)| (path, script.replace("NAME", name))));
    of(compiled(&files))
}

/// One `tools/call` of a handler that does what each of [`Entries::Scripts`] does, and its app.
///
/// # Panics
/// Where the app cannot be written or does not compile.
#[must_use]
pub fn endpoint_with_script() -> Endpoint {
    let tool = "description: Adds one.\nhandler: ./handler.ts\ninputs:\n  id: { type: int, min: 1 }\n".to_owned();
    let script = "export default ({ inputs }) => ({ a: inputs.id + 1 });\n".to_owned();
    of(compiled(&[
        ("millrace.yaml", "name: one\n".to_owned()),
        ("app/tools/get-user/config.yaml", tool),
        ("app/tools/get-user/handler.ts", script),
    ]))
}

fn compiled<P: AsRef<str>>(files: &[(P, String)]) -> App {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    for (path, text) in files {
        let file = folder.path().join(path.as_ref());
        let parent = file.parent().unwrap_or_else(|| panic!("{}", file.display()));
        fs::create_dir_all(parent).and_then(|()| fs::write(&file, text)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    compile(folder.path())
}

/// An app with one tool, `get-user`, that gives a thousand rows of ten columns, on ports that only
/// answer. `presented`: by a presenter that redacts, has rules and two blocks for people.
///
/// # Panics
/// Where the app cannot be written or does not compile.
#[must_use]
pub fn endpoint_with_a_thousand_rows(presented: bool) -> Endpoint {
    let columns: Vec<String> =
        ["id", "number", "customer", "email", "city", "status", "amount_cents", "currency", "due_on", "reminders"].map(String::from).into();
    let row = |id: i64| {
        let text = |text: &str| Value::Text(text.to_owned());
        let status = if id % 3 == 0 { "overdue" } else { "paid" };
        vec![
            Value::I64(id),
            Value::Text(format!("INV-2026-{id:04}")),
            text("Grace Hopper"),
            Value::Text(format!("grace{id}@example.com")),
            text("Lisbon"),
            text(status),
            Value::I64(id * 379 % 49_000),
            text("EUR"),
            text("2026-03-01"),
            Value::I64(id % 4),
        ]
    };
    let tool =
        "description: The invoices.\nuse: main\nstatement: SELECT * FROM invoices\ninputs:\n  id: { type: int }\nlimits: { output: 1mb }\n";
    let tool = if presented { format!("{tool}returns: invoice\n") } else { tool.to_owned() };
    let presenter = "schema:\n  id: { type: int }\n  number: { type: string }\n  customer: { type: string }\n  email: { type: string }\n  city: { type: string }\n  \
                     status: { type: string, enum: [open, paid, overdue] }\n  amount_cents: { type: int, description: In cents }\n  currency: { type: string }\n  due_on: { type: date }\n  \
                     reminders: { type: int }\nredact:\n  - { paths: [email], censor: { mask: '*', keep_end: 4 } }\n  - { paths: ['**.currency'] }\nrules:\n  - Currency is EUR.\n  \
                     - { when: \"item.status == 'overdue'\", text: 'Invoice {{ item.id }} is overdue.' }\nui:\n  - echarts: { xAxis: { data: '{{ items.number }}' }, series: [ { data: '{{ items.amount_cents }}' } ] }\n  \
                     - table: { columns: [Id, Status, Amount], row: ['{{ item.id }}', '{{ item.status }}', '{{ item.amount_cents }}'] }\n";
    let mut files = vec![
        ("millrace.yaml", "name: one\n".to_owned()),
        ("app/adapters/main.yaml", "connector: libsql\nconnection_string: http://127.0.0.1:1\n".to_owned()),
        ("app/tools/get-user/config.yaml", tool),
    ];
    files.extend(presented.then(|| ("app/presenters/invoice.yaml", presenter.to_owned())));
    of_rows(compiled(&files), Rows { columns: columns.into(), rows: (1..=1000).map(row).collect(), ..Rows::default() })
}

fn of(app: App) -> Endpoint {
    let row = |id: i64| {
        let text = |text: &str| Value::Text(text.to_owned());
        vec![Value::I64(id), text("Alan Allen"), text("user42@example.com"), text("Lisbon"), text("2024-02-12")]
    };
    let columns: Vec<String> = ["id", "name", "email", "city", "created_at"].map(String::from).into();
    of_rows(app, Rows { columns: columns.into(), rows: (1..=10).map(row).collect(), ..Rows::default() })
}

fn of_rows(app: App, rows: Rows) -> Endpoint {
    let inert = Inert { now_ms: 1_767_225_600_000, random: 7, env: &[] };
    let scripts = Rc::new(millrace_script::Engine::new());
    let ports = Ports { connectors: Rc::new(SameRows(rows)), scripts, ..inert.ports() };
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
        query: String::new(),
        headers,
        body: Body::Whole(body.to_vec()),
        deadline_ms: None,
        cancel: Cancel::new(),
        peer: None,
        platform_caller: None,
        checks_host: true,
        is_tls: false,
        is_local: false,
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
