//! `connector: mysql` of a Worker, in real workerd with a real server: by a socket, with what goes wrong. That
//! the answers are those of every host, the corpus shows (`tests/worker.rs`).

use std::{
    fs,
    io::Write as _,
    net::TcpStream,
    path::{Path, PathBuf},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use crate::certificates::certified;
use millrace_core::{hidden::visible, value::Value};
use millrace_tests::files::write;
use millrace_tests::{
    Exchange,
    database::Database,
    mysql::{Mysql, PASSWORD},
    worker,
    workerd::{Surroundings, Workerd},
};
use serde_json::{Value as Json, json};

const RUNNING: &str = "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Execute' AND INFO LIKE '%SLEEP(600)'";
/// The app has no scripts, so that its runtime has sockets and nothing else.
const ADAPTERS: [(&str, &str); 2] = [
    ("direct", "connection_string: \"{{ env.DATABASE_URL }}\"\n"),
    ("brief", "connection_string: \"{{ env.DATABASE_URL }}\"\noptions: { timeout: 6s }\n"),
];

/// The app, built once for all tests of this file. Each has a copy: workerd's configuration lies beside it.
fn app() -> tempfile::TempDir {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, built) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "millrace.yaml", "name: far\n");
        for (name, text) in ADAPTERS {
            write(folder.path(), &format!("app/adapters/{name}.yaml"), &format!("connector: mysql\n{text}"));
            let tool = |verb: &str, settings: &str| {
                let file = format!("app/tools/{verb}-{name}/config.yaml");
                write(folder.path(), &file, &format!("description: x\nuse: {name}\n{settings}"));
            };
            let secured = "(SELECT VARIABLE_VALUE <> '' FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'SSL_CIPHER')";
            tool("ask", &format!("statement: SELECT '{{{{ inputs.s }}}}' AS s, {secured} AS tls\ninputs: {{ s: {{ type: string }} }}\n"));
            tool("read", "statement: SELECT SLEEP(600)\n");
            tool("write", "statement: INSERT INTO t SELECT SLEEP(600)\n");
            tool(
                "once",
                "statement: INSERT INTO t VALUES ({{ inputs.v }})\ninputs: { v: { type: int } }\nidempotency: { key: \"{{ inputs.v }}\" }\n",
            );
        }
        let built = worker::build(folder.path());
        (folder, built)
    });
    let copy = tempfile::tempdir().unwrap();
    duplicate(built, copy.path());
    copy
}

fn duplicate(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => duplicate(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// A Worker between a caller and a server.
struct Kit {
    workerd: Workerd,
    _folder: tempfile::TempDir,
}

impl Kit {
    /// `url` is where the sockets go.
    fn start(url: &str, authority: Option<&str>) -> Self {
        let folder = app();
        let variables = [("MILLRACE_LOG", "debug"), ("DATABASE_URL", url)];
        let surroundings = Surroundings { variables: &variables, authority, ..Surroundings::default() };
        let workerd = Workerd::start_with(folder.path(), &surroundings).unwrap_or_else(|said| panic!("{said}"));
        Self { workerd, _folder: folder }
    }

    fn of(server: &Mysql) -> Self {
        Self::start(&server.url("shop"), None)
    }

    fn call(&self, tool: &str, arguments: &Json) -> Json {
        let answer = self.workerd.send(&call(tool, arguments));
        let (_, body) = answer.split_once("\n\n").unwrap_or_else(|| panic!("{tool}: {answer}\n{}", self.workerd.log()));
        let body: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}\n{}", self.workerd.log()));
        body["result"].clone()
    }

    /// The one row of the tool `ask-…`.
    fn ask(&self, adapter: &str, value: &str) -> Json {
        let result = self.call(&format!("ask-{adapter}"), &json!({"s": value}));
        assert_eq!(result["isError"], false, "{result}\n{}", self.workerd.log());
        serde_json::from_str::<Json>(result["content"][0]["text"].as_str().unwrap()).unwrap()[0].clone()
    }

    /// The code and the message of a tool that fails.
    fn failure(&self, tool: &str) -> (String, String) {
        let arguments = if tool.starts_with("ask") { json!({"s": "x"}) } else { json!({}) };
        let result = self.call(tool, &arguments);
        let error = &result["_meta"]["millrace/error"];
        let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{tool}: {result}")).to_owned();
        (text("code"), text("message"))
    }
}

impl Drop for Kit {
    fn drop(&mut self) {
        let log = self.workerd.log();
        let is_told = log.contains(PASSWORD) || log.contains("correct%20horse");
        assert!(thread::panicking() || !is_told, "a secret is logged:\n{log}");
    }
}

fn call(tool: &str, arguments: &Json) -> Exchange {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}).to_string();
    let headers = [("content-type", "application/json"), ("mcp-protocol-version", "2025-06-18")];
    Exchange {
        method: "POST".into(),
        path: "/mcp".into(),
        headers: headers.map(|(name, value)| (name.into(), value.into())).to_vec(),
        body,
    }
}

#[track_caller]
fn wait_for(what: &str, condition: impl Fn() -> bool) {
    millrace_tests::wait::until_else(|| format!("it does not come: {what}"), condition);
}

fn connections(admin: &Database) -> usize {
    admin.rows("SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = 'admin' AND ID <> CONNECTION_ID()").len()
}

const CALLS: u32 = 20;

#[test]
fn each_statement_has_a_connection_of_its_own_and_leaves_none() {
    let server = Mysql::start(&[]);
    let admin = server.open();
    admin.run("CREATE TABLE t (v int) ENGINE = InnoDB", &[]).unwrap();
    let kit = Kit::of(&server);
    let values: Vec<String> =
        serde_json::from_str(&fs::read_to_string(millrace_tests::case::root().join("tests/data/hostile-values.json")).unwrap()).unwrap();
    kit.ask("direct", "x");
    let before_ms = kit.workerd.cpu_ms();
    for _ in 0..CALLS {
        assert_eq!(kit.ask("direct", "o'neil; --"), json!({"s": "o'neil; --", "tls": 0}));
    }
    let each_ms = (kit.workerd.cpu_ms() - before_ms) / f64::from(CALLS);
    println!("a call takes {each_ms:.1} ms of CPU, its login among it");
    for value in &values {
        assert_eq!(kit.ask("direct", value)["s"], json!(visible(value)));
    }
    // Requests at once: what belongs to one must not be used, or woken, by another.
    thread::scope(|scope| {
        for number in 0..12 {
            let kit = &kit;
            scope.spawn(move || assert_eq!(kit.ask("direct", &number.to_string())["s"], json!(number.to_string())));
        }
    });
    for _ in 0..2 {
        let result = kit.call("once-direct", &json!({"v": 6}));
        assert_eq!(result["content"][0]["text"], r#"{"affected_rows":1}"#, "{result}");
    }
    assert_eq!(admin.rows("SELECT COUNT(*) FROM t"), [[Value::I64(1)]], "one for the key");
    wait_for("no connection is left", || connections(&admin) == 0);
}

#[test]
fn a_statement_ends_at_its_deadline_on_the_server_too() {
    let server = Mysql::start(&[]);
    let kit = Kit::of(&server);
    assert_eq!(kit.failure("read-brief"), ("TIMEOUT".into(), "The statement ran past its deadline.".into()));
    let admin = server.open();
    wait_for("the statement has ended", || admin.rows(RUNNING).is_empty());
    assert_eq!(kit.ask("brief", "x"), json!({"s": "x", "tls": 0}));
}

#[test]
fn a_client_that_goes_away_ends_its_statement() {
    let server = Mysql::start(&[]);
    let kit = Kit::of(&server);
    let admin = server.open();
    let request = call("read-direct", &json!({}));
    let fields: String = request.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!("POST /mcp HTTP/1.1\r\nhost: x\r\n{fields}content-length: {}\r\n\r\n{}", request.body.len(), request.body);
    let mut client = TcpStream::connect(("127.0.0.1", kit.workerd.port)).unwrap();
    client.write_all(head.as_bytes()).unwrap();
    wait_for("the statement runs", || admin.rows(RUNNING).len() == 1);
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    {
        let _inside = runtime.enter();
        client.set_nonblocking(true).unwrap();
        tokio::net::TcpStream::from_std(client).unwrap().set_zero_linger().unwrap();
    }
    wait_for("the statement has ended", || admin.rows(RUNNING).is_empty());
    // Any other deadline is half a minute away.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    wait_for("the call has ended", || kit.workerd.log().contains("code=\"CANCELLED\""));
    assert_eq!(kit.ask("direct", "x"), json!({"s": "x", "tls": 0}));
}

#[test]
fn a_server_that_dies_under_a_statement() {
    let mut server = Mysql::start(&[]);
    let kit = Kit::of(&server);
    server.open().run("CREATE TABLE t (v int) ENGINE = InnoDB", &[]).unwrap();
    let found = thread::scope(|scope| {
        let found = scope.spawn(|| kit.failure("write-direct"));
        let admin = server.open();
        wait_for("the statement runs", || admin.rows(RUNNING).len() == 1);
        let Value::I64(thread) = admin.rows(RUNNING)[0][0] else { panic!("no number") };
        server.run("shop", &format!("KILL {thread}"));
        found.join().unwrap()
    });
    assert_eq!(found.0, "DATABASE_ERROR", "{found:?}");
    assert!(found.1.ends_with("; it is not known whether the statement took effect."), "{found:?}");
    let found = thread::scope(|scope| {
        let found = scope.spawn(|| kit.failure("write-direct"));
        let admin = server.open();
        wait_for("the statement runs", || admin.rows(RUNNING).len() == 1);
        drop(admin);
        server.kill();
        found.join().unwrap()
    });
    assert_eq!(found.0, "DATABASE_ERROR", "{found:?}");
    assert_eq!(kit.failure("ask-direct"), ("DATABASE_UNAVAILABLE".into(), "Could not connect to the server.".into()));
    server.restart();
    assert_eq!(kit.ask("direct", "x"), json!({"s": "x", "tls": 0}));
    assert_eq!(server.open().rows("SELECT COUNT(*) FROM t"), [[Value::I64(0)]]);
}

#[test]
fn a_wrong_password() {
    let server = Mysql::start(&[]);
    let kit = Kit::start(&format!("mysql://admin:hunter2@127.0.0.1:{}/shop", server.port), None);
    let expected = "MySQL does not accept the user or the password.".to_owned();
    assert_eq!(kit.failure("ask-direct"), ("QUERY_REFUSED".to_owned(), expected));
    assert!(!kit.workerd.log().contains("hunter2"));
}

#[test]
fn tls_is_the_platforms() {
    let [certificate, key, authority] = certified("localhost");
    let server = Mysql::start_with_tls(&certificate, &key);
    let url = |host: &str, mode: &str| server.url("shop").replace("127.0.0.1", host) + "?sslmode=" + mode;
    for mode in ["prefer", "verify-full"] {
        let kit = Kit::start(&url("localhost", mode), Some(&authority));
        assert_eq!(kit.ask("direct", "x"), json!({"s": "x", "tls": 1}), "{mode}");
    }
    for (host, mode, authority) in [("127.0.0.1", "verify-ca", Some(&authority)), ("localhost", "require", None)] {
        let kit = Kit::start(&url(host, mode), authority.map(String::as_str));
        let (code, message) = kit.failure("ask-direct");
        assert_eq!(code, "DATABASE_UNAVAILABLE", "{host} {mode}: {message}\n{}", kit.workerd.log());
        let expected = "The server aborted the TLS handshake, or its certificate is not trusted";
        assert!(message.starts_with(expected), "{message}");
    }
}
