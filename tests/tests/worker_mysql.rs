//! `connector: mysql` of a Worker, in real workerd with a real server: by a socket, with what goes
//! wrong. That the answers are those of every host, the corpus shows (`tests/worker.rs`).

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use crate::certificates::certified;
use millrace_core::{hidden::visible, value::Value};
use millrace_tests::files::write;
use millrace_tests::{
    database::Database,
    mysql::{Mysql, PASSWORD},
    worker,
    workerd::Surroundings,
};
use serde_json::json;

use crate::{
    in_process::hostile_values,
    worker_kit::{Kit, wait_for},
};

const RUNNING: &str = "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Execute' AND INFO LIKE '%SLEEP(600)'";
/// The app has no scripts, so that its runtime has sockets and nothing else.
const ADAPTERS: [(&str, &str); 2] = [
    ("direct", "connection_string: \"{{ env.DATABASE_URL }}\"\n"),
    ("brief", "connection_string: \"{{ env.DATABASE_URL }}\"\noptions: { timeout: 6s }\n"),
];

/// The app, built once for all tests of this file.
fn app() -> &'static Path {
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
    built
}

/// `url` is where the sockets go.
fn start(url: &str, authority: Option<&str>) -> Kit {
    let variables = [("MILLRACE_LOG", "debug"), ("DATABASE_URL", url)];
    let surroundings = Surroundings { variables: &variables, authority, ..Surroundings::default() };
    Kit::start(app(), &surroundings, PASSWORD, json!({"s": "x"}))
}

fn of(server: &Mysql) -> Kit {
    start(&server.url("shop"), None)
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
    let kit = of(&server);
    kit.ask("direct");
    let before_ms = kit.workerd.cpu_ms();
    for _ in 0..CALLS {
        assert_eq!(kit.ask_with("direct", &json!({"s": "o'neil; --"})), json!({"s": "o'neil; --", "tls": 0}));
    }
    let each_ms = (kit.workerd.cpu_ms() - before_ms) / f64::from(CALLS);
    println!("a call takes {each_ms:.1} ms of CPU, its login among it");
    for value in &hostile_values() {
        assert_eq!(kit.ask_with("direct", &json!({"s": value}))["s"], json!(visible(value)));
    }
    // Requests at once: what belongs to one must not be used, or woken, by another.
    thread::scope(|scope| {
        for number in 0..12 {
            let kit = &kit;
            scope.spawn(move || assert_eq!(kit.ask_with("direct", &json!({"s": number.to_string()}))["s"], json!(number.to_string())));
        }
    });
    for _ in 0..2 {
        let result = kit.workerd.call("once-direct", &json!({"v": 6}));
        assert_eq!(result["content"][0]["text"], r#"{"affected_rows":1}"#, "{result}");
    }
    assert_eq!(admin.rows("SELECT COUNT(*) FROM t"), [[Value::I64(1)]], "one for the key");
    wait_for("no connection is left", || connections(&admin) == 0);
}

#[test]
fn a_statement_ends_at_its_deadline_on_the_server_too() {
    let server = Mysql::start(&[]);
    let kit = of(&server);
    assert_eq!(kit.failure("read-brief"), ("TIMEOUT".into(), "The statement ran past its deadline.".into()));
    let admin = server.open();
    wait_for("the statement has ended", || admin.rows(RUNNING).is_empty());
    assert_eq!(kit.ask("brief"), json!({"s": "x", "tls": 0}));
}

#[test]
fn a_client_that_goes_away_ends_its_statement() {
    let server = Mysql::start(&[]);
    let kit = of(&server);
    let admin = server.open();
    kit.leave("read-direct", || admin.rows(RUNNING).len() == 1);
    let began = Instant::now();
    wait_for("the statement has ended", || admin.rows(RUNNING).is_empty());
    // Any other deadline is half a minute away.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    wait_for("the call has ended", || kit.workerd.log().contains("code=\"CANCELLED\""));
    assert_eq!(kit.ask("direct"), json!({"s": "x", "tls": 0}));
}

#[test]
fn a_server_that_dies_under_a_statement() {
    let mut server = Mysql::start(&[]);
    let kit = of(&server);
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
    assert_eq!(kit.ask("direct"), json!({"s": "x", "tls": 0}));
    assert_eq!(server.open().rows("SELECT COUNT(*) FROM t"), [[Value::I64(0)]]);
}

#[test]
fn a_wrong_password() {
    let server = Mysql::start(&[]);
    let kit = start(&format!("mysql://admin:hunter2@127.0.0.1:{}/shop", server.port), None);
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
        let kit = start(&url("localhost", mode), Some(&authority));
        assert_eq!(kit.ask("direct"), json!({"s": "x", "tls": 1}), "{mode}");
    }
    for (host, mode, authority) in [("127.0.0.1", "verify-ca", Some(&authority)), ("localhost", "require", None)] {
        let kit = start(&url(host, mode), authority.map(String::as_str));
        let (code, message) = kit.failure("ask-direct");
        assert_eq!(code, "DATABASE_UNAVAILABLE", "{host} {mode}: {message}\n{}", kit.workerd.log());
        let expected = "The server aborted the TLS handshake, or its certificate is not trusted";
        assert!(message.starts_with(expected), "{message}");
    }
}
