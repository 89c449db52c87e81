//! `connector: postgres` of a Worker, in real workerd with a real server: by a socket and through a
//! Hyperdrive, with what goes wrong. That the answers are those of every host, the corpus shows
//! (`tests/worker.rs`).

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use crate::certificates::certified;
use millrace_core::value::Value;
use millrace_tests::files::write;
use millrace_tests::{
    Exchange,
    case::body,
    database::Database,
    postgres::{PASSWORD, Postgres, psql},
    worker,
    workerd::Surroundings,
};
use serde_json::json;

use crate::worker_kit::{Kit, wait_for};

/// How long something may take that a busy machine does late.
const PATIENCE: Duration = Duration::from_secs(60);
/// What ends a statement soon after its client has gone; without it, the statement's own deadline
/// does.
const NOTICE: &str = "client_connection_check_interval = 200";
const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n";
/// The app has no scripts, so that its runtime has PostgreSQL and nothing else.
const ADAPTERS: [(&str, &str); 4] = [
    ("direct", "connection_string: \"{{ env.DATABASE_URL }}\"\noptions: { ca_certificate: \"{{ env.DB_CA }}\" }\n"),
    ("brief", "connection_string: \"{{ env.DATABASE_URL }}\"\noptions: { timeout: 6s }\n"),
    ("bound", "connection_string: \"hyperdrive:DB\"\n"),
    ("unbound", "connection_string: \"hyperdrive:UNBOUND\"\n"),
];

/// The app, built once for all tests of this file.
fn app() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, built) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "millrace.yaml", "name: far\n");
        for (name, text) in ADAPTERS {
            write(folder.path(), &format!("app/adapters/{name}.yaml"), &format!("connector: postgres\n{text}"));
            let tool = |verb: &str, settings: &str| {
                let file = format!("app/tools/{verb}-{name}/config.yaml");
                write(folder.path(), &file, &format!("description: x\nuse: {name}\n{settings}"));
            };
            tool("ask", "statement: SELECT {{ inputs.i }}::int AS i, ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()\ninputs: { i: { type: int } }\n");
            tool("read", &format!("statement: {ENDLESS}\n"));
            tool("write", &format!("statement: CREATE TABLE u AS {ENDLESS}\n"));
            tool("late", "statement: SELECT pg_sleep(600)\nlimits: { timeout: 3s }\n");
        }
        for (name, connection_string) in [("direct", "{{ env.DATABASE_URL }}"), ("bound", "hyperdrive:DB")] {
            let session = "session:\n  settings: { app.tenant: \"{{ auth.subject }}\" }\n  role: clerk\n";
            let adapter = format!("connector: postgres\nconnection_string: \"{connection_string}\"\n{session}");
            write(folder.path(), &format!("app/adapters/rows-{name}.yaml"), &adapter);
            let keys = "- { name: north, value: northern-key }\n      - { name: south, value: southern-key }";
            let tool = format!(
                "description: x\nuse: rows-{name}\nstatement: SELECT tenant, current_user::text AS who FROM orders\n\
                 auth:\n  plugin: api_key\n  policy:\n    keys:\n      {keys}\n"
            );
            write(folder.path(), &format!("app/tools/rows-{name}/config.yaml"), &tool);
        }
        let built = worker::build(folder.path());
        (folder, built)
    });
    built
}

/// `url` is where the sockets go, `port` where the Hyperdrive does.
fn start(url: &str, port: u16) -> Kit {
    start_with(url, &Surroundings { hyperdrives: &[("DB", port)], password: PASSWORD, ..Surroundings::default() }, "")
}

fn start_with(url: &str, surroundings: &Surroundings<'_>, own_certificate: &str) -> Kit {
    let variables = [("MILLRACE_LOG", "debug"), ("DATABASE_URL", url), ("DB_CA", own_certificate)];
    Kit::start(app(), &Surroundings { variables: &variables, ..*surroundings }, PASSWORD, json!({"i": 7}))
}

fn of(server: &Postgres) -> Kit {
    start(&server.url("postgres"), server.port)
}

/// How many statements of the Worker match.
fn running(admin: &Database, condition: &str) -> usize {
    let sql = format!("SELECT 1 FROM pg_stat_activity WHERE application_name = 'millrace' AND pid <> pg_backend_pid() AND {condition}");
    admin.rows(&sql).len()
}

const CALLS: u32 = 20;
const IS_ENDLESS: &str = "state = 'active' AND query LIKE '%RECURSIVE%'";

#[test]
fn each_statement_has_a_connection_of_its_own_and_leaves_none() {
    let server = Postgres::start(&[]);
    let kit = of(&server);
    for adapter in ["direct", "bound"] {
        kit.ask(adapter);
        let before_ms = kit.workerd.cpu_ms();
        for _ in 0..CALLS {
            assert_eq!(kit.ask(adapter), json!({"i": 7, "ssl": false}), "{adapter}");
        }
        let each_ms = (kit.workerd.cpu_ms() - before_ms) / f64::from(CALLS);
        println!("a call with `{adapter}` takes {each_ms:.1} ms of CPU, its login among it");
        // Requests at once: what belongs to one must not be used, or woken, by another.
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| assert_eq!(kit.ask(adapter), json!({"i": 7, "ssl": false}), "{adapter}"));
            }
        });
    }
    let admin = server.open();
    wait_for("no connection is left", || running(&admin, "true") == 0);
}

#[test]
fn a_statement_ends_at_its_deadline_on_the_server_too() {
    let server = Postgres::start(&[]);
    let kit = of(&server);
    assert_eq!(kit.failure("read-brief"), ("TIMEOUT".into(), "The statement ran past its deadline.".into()));
    let admin = server.open();
    wait_for("the statement has ended", || running(&admin, IS_ENDLESS) == 0);
    assert_eq!(kit.ask("brief"), json!({"i": 7, "ssl": false}));
}

#[test]
fn a_call_ends_at_its_own_deadline_however_slow_the_database_is() {
    let server = Postgres::start(&[]);
    let kit = of(&server);
    let admin = server.open();
    for adapter in ["direct", "bound"] {
        let started = Instant::now();
        assert_eq!(kit.failure(&format!("late-{adapter}")).0, "TIMEOUT", "{adapter}");
        // Any other deadline is half a minute away.
        assert!(started.elapsed() < Duration::from_secs(25), "{adapter}: {:?}", started.elapsed());
        wait_for("the statement has ended", || running(&admin, "state = 'active' AND query LIKE '%pg_sleep%'") == 0);
        assert_eq!(kit.ask(adapter), json!({"i": 7, "ssl": false}), "{adapter}");
    }
}

#[test]
fn a_client_that_goes_away_closes_its_connection() {
    let server = Postgres::start(&[NOTICE]);
    let kit = of(&server);
    let admin = server.open();
    for adapter in ["direct", "bound"] {
        kit.leave(&format!("read-{adapter}"), || running(&admin, IS_ENDLESS) == 1);
        // Only because its connection was closed: its deadline is half a minute away, and so is the
        // server's.
        wait_for("the statement has ended", || running(&admin, IS_ENDLESS) == 0);
        wait_for("the call has ended", || kit.workerd.log().contains("code=\"CANCELLED\""));
        assert_eq!(kit.ask(adapter), json!({"i": 7, "ssl": false}), "{adapter}");
    }
}

#[test]
fn two_tenants_see_their_own_rows() {
    let server = Postgres::start(&[]);
    psql(
        &server.url("postgres"),
        "CREATE ROLE clerk NOLOGIN;
         CREATE TABLE orders (tenant text);
         INSERT INTO orders VALUES ('north'), ('south');
         ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
         CREATE POLICY own_rows ON orders USING (tenant = current_setting('app.tenant'));
         GRANT SELECT ON orders TO clerk;",
    );
    let kit = of(&server);
    thread::scope(|scope| {
        for number in 0..24 {
            let kit = &kit;
            scope.spawn(move || {
                let (tool, tenant) = (["rows-direct", "rows-bound"][number % 2], ["north", "south"][number / 2 % 2]);
                let answer = kit.workerd.send(&Exchange::call(tool, &json!({})).with("x-api-key", &format!("{tenant}ern-key")));
                let body = body(&answer);
                let expected = format!(r#"[{{"tenant":"{tenant}","who":"clerk"}}]"#);
                assert_eq!(body["result"]["content"][0]["text"], expected, "{answer}\n{}", kit.workerd.log());
            });
        }
    });
}

/// A port where nobody listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_server_that_is_not_there() {
    let port = closed_port();
    let kit = start(&format!("postgres://me:hunter2@127.0.0.1:{port}/x"), port);
    // Neither address nor binding is the caller's to know.
    for tool in ["ask-direct", "ask-bound"] {
        assert_eq!(kit.failure(tool), ("DATABASE_UNAVAILABLE".to_owned(), "Could not connect to the server.".to_owned()));
    }
}

#[test]
fn a_wrong_password() {
    let server = Postgres::start(&[]);
    let url = format!("postgres://postgres:hunter2@127.0.0.1:{}/postgres", server.port);
    let kit = start_with(&url, &Surroundings { hyperdrives: &[("DB", server.port)], password: "hunter2", ..Surroundings::default() }, "");
    for tool in ["ask-direct", "ask-bound"] {
        let expected = ("QUERY_REFUSED".to_owned(), "PostgreSQL does not accept the password.".to_owned());
        assert_eq!(kit.failure(tool), expected);
    }
    assert!(!kit.workerd.log().contains("hunter2"));
}

/// Ends what runs a statement, once it does; as often as it is sent.
fn kill_the_statement(server: &Postgres, times: usize) {
    let admin = server.open();
    let mut ended: Vec<Vec<Value>> = Vec::new();
    let started = Instant::now();
    while ended.len() < times {
        assert!(started.elapsed() < PATIENCE, "the statement does not run");
        let found = admin.rows(&format!("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND {IS_ENDLESS}"));
        for pid in found.into_iter().filter(|pid| !ended.contains(pid)).collect::<Vec<_>>() {
            let [Value::I64(number)] = pid[..] else { panic!("{pid:?}") };
            psql(&server.url("postgres"), &format!("SELECT pg_terminate_backend({number})"));
            ended.push(pid);
        }
        millrace_tests::wait::moment();
    }
}

#[test]
fn a_server_that_dies_under_a_statement() {
    let mut server = Postgres::start(&[]);
    let kit = of(&server);
    for adapter in ["direct", "bound"] {
        let found = thread::scope(|scope| {
            let found = scope.spawn(|| kit.failure(&format!("write-{adapter}")));
            kill_the_statement(&server, 1);
            found.join().unwrap()
        });
        let unknown = "PostgreSQL ended the connection; it is not known whether the statement took effect.";
        assert_eq!(found, ("DATABASE_ERROR".into(), unknown.into()), "{adapter}");
        // A read is sent once more, and no further.
        let found = thread::scope(|scope| {
            let found = scope.spawn(|| kit.failure(&format!("read-{adapter}")));
            kill_the_statement(&server, 2);
            found.join().unwrap()
        });
        assert_eq!(found, ("DATABASE_UNAVAILABLE".into(), "PostgreSQL ended the connection.".into()), "{adapter}");
    }
    let found = thread::scope(|scope| {
        let found = scope.spawn(|| kit.failure("write-direct"));
        let admin = server.open();
        wait_for("the statement runs", || running(&admin, IS_ENDLESS) == 1);
        drop(admin);
        server.kill();
        found.join().unwrap()
    });
    assert_eq!(found.0, "DATABASE_ERROR", "{found:?}");
    assert!(found.1.ends_with("; it is not known whether the statement took effect."), "{found:?}");
    server.restart();
    assert_eq!(kit.ask("direct"), json!({"i": 7, "ssl": false}));
}

#[test]
fn what_breaks_off_in_the_middle_of_a_login() {
    let cases: [(&[u8], &str); 5] = [
        (b"", "DATABASE_UNAVAILABLE"),
        (b"S", "DATABASE_UNAVAILABLE"),
        (b"SR\0\0\0\x08\0\0\0\0", "DATABASE_UNAVAILABLE"),
        (b"N", "CONFIGURATION"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "DATABASE_ERROR"),
    ];
    for (answer, expected) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                if socket.read(&mut [0; 1000]).is_ok_and(|count| count > 0) {
                    drop(socket.write_all(answer));
                }
            }
        });
        let kit = start(&format!("postgres://me:hunter2@127.0.0.1:{port}/x?sslmode=require"), port);
        let (code, message) = kit.failure("ask-brief");
        assert_eq!(code, expected, "{answer:?}: {message}");
        // Nothing of the isolate was harmed.
        assert_eq!(kit.failure("ask-brief").0, code, "{answer:?}");
        assert!(!kit.workerd.log().contains("panic"), "{answer:?}: {}", kit.workerd.log());
    }
}

#[test]
fn a_missing_hyperdrive_is_named_at_the_first_call_that_needs_it() {
    let server = Postgres::start(&[]);
    let kit = of(&server);
    let expected = "The Hyperdrive `UNBOUND`, which the adapter `unbound` needs, does not exist; add it to `wrangler.toml`.";
    assert_eq!(kit.failure("ask-unbound"), ("CONFIGURATION".into(), expected.into()));
    assert_eq!(kit.ask("bound"), json!({"i": 7, "ssl": false}));
}

#[test]
fn tls_is_the_platforms() {
    let [certificate, key, authority] = certified("localhost");
    let server = Postgres::start_with_tls(&certificate, &key);
    let url = |host: &str, mode: &str| server.url("postgres").replace("127.0.0.1", host) + "?sslmode=" + mode;
    let trusting = Surroundings { authority: Some(&authority), ..Surroundings::default() };
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        let kit = start_with(&url("localhost", mode), &trusting, "");
        assert_eq!(kit.ask("direct"), json!({"i": 7, "ssl": true}), "{mode}");
    }
    assert_eq!(start_with(&url("localhost", "disable"), &trusting, "").ask("direct"), json!({"i": 7, "ssl": false}));
    // Nobody can ask for less than everything: not for another name, and not for whoever signs.
    for (host, mode, surroundings) in [("127.0.0.1", "verify-ca", trusting), ("localhost", "require", Surroundings::default())] {
        let kit = start_with(&url(host, mode), &surroundings, "");
        let (code, message) = kit.failure("ask-direct");
        assert_eq!(code, "DATABASE_UNAVAILABLE", "{host} {mode}: {message}\n{}", kit.workerd.log());
        let expected = "The server aborted the TLS handshake, or its certificate is not trusted";
        assert!(message.starts_with(expected) && message.contains("connect through a Hyperdrive"), "{message}");
    }
    let (code, message) = start_with(&url("localhost", "verify-full"), &trusting, &authority).failure("ask-direct");
    assert_eq!(code, "CONFIGURATION");
    assert!(
        message.starts_with("The adapter `direct` brings root certificates, and a Worker trusts only what the platform trusts"),
        "{message}"
    );
}

#[test]
fn a_server_without_tls_is_not_told_the_password() {
    let server = Postgres::start(&[]);
    let kit = start(&format!("{}?sslmode=verify-full", server.url("postgres")), server.port);
    let expected = "PostgreSQL offers no TLS; where the network between is trusted, set `sslmode=disable`.";
    assert_eq!(kit.failure("ask-direct"), ("CONFIGURATION".into(), expected.into()));
    let kit = start(&format!("{}?sslmode=prefer", server.url("postgres")), server.port);
    assert_eq!(kit.ask("direct"), json!({"i": 7, "ssl": false}));
}
