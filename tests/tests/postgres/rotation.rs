//! A password that changes while calls come: whoever is refused reads it again within the call, and
//! within `/readyz`.

use std::{fs, thread, time::Duration};

use millrace_tests::{
    case::Exchange,
    local::Host,
    postgres::{Postgres, psql},
};

const CALLS: u32 = 150;
/// 50 calls a second.
const PAUSE: Duration = Duration::from_millis(20);

#[test]
fn no_call_fails_while_the_password_changes() {
    let mut server = Postgres::start(&[]);
    server.create("shop", "CREATE TABLE t (v int); INSERT INTO t VALUES (7);");
    let admin = server.url("shop");
    psql(&admin, "CREATE ROLE rotating LOGIN PASSWORD 'first-password'; GRANT SELECT ON t TO rotating;");
    server.let_in(&["host all postgres 127.0.0.1/32 trust", "host all all 127.0.0.1/32 scram-sha-256"]);
    let (app, secrets) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let set = |password: &str| fs::write(secrets.path().join("ROTATING"), password).unwrap();
    set("first-password");
    let files = [
        ("millrace.yaml", "name: shop\n".to_owned()),
        (
            "app/adapters/shop.yaml",
            format!(
                "connector: postgres\nconnection_string: \"postgres://rotating@127.0.0.1:{}/shop\"\noptions: {{ password: \"{{{{ secret.ROTATING }}}}\" }}\n",
                server.port
            ),
        ),
        ("app/tools/seven/config.yaml", "description: Seven.\nuse: shop\nstatement: SELECT v FROM t\n".to_owned()),
    ];
    for (path, text) in files {
        millrace_tests::files::write(app.path(), path, &text);
    }
    let log = app.path().join("log");
    let env = [("MILLRACE_SECRETS".to_owned(), format!("files:{}", secrets.path().display()))];
    let host = Host::dev_logging(app.path(), &env, "warn", &log);
    let call = || host.send(&Exchange::parse("CALL seven {}"));
    let ready = || host.send(&Exchange::parse("GET /readyz"));
    let rotate = |password: &str, writes: bool| {
        psql(&admin, &format!("ALTER ROLE rotating PASSWORD '{password}'"));
        if writes {
            set(password);
        }
        psql(&admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotating'");
    };
    thread::scope(|scope| {
        let rotating = scope.spawn(|| rotate("second-password", true));
        for number in 0..CALLS {
            let answer = call();
            assert!(answer.contains(r#"{\"v\":7}"#), "call {number}: {answer}");
            thread::sleep(PAUSE);
        }
        rotating.join().unwrap();
    });
    // Nobody calls: a server that is not ready gets no calls.
    rotate("third-password", false);
    let refused = ready();
    assert!(refused.contains("503") && refused.contains(r#""kind":"credentials""#), "{refused}");
    let told = call();
    assert!(told.contains("QUERY_REFUSED") && told.contains("PostgreSQL does not accept the password."), "{told}");
    for private in ["127.0.0.1", &server.port.to_string(), "rotating", "password\""] {
        assert!(!told.contains(private), "{private}: {told}");
    }
    set("third-password");
    millrace_tests::wait::until("still not ready", || ready().contains("200"));
    assert!(call().contains(r#"{\"v\":7}"#));
    // The operator needs the address and the user.
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains(&format!("`127.0.0.1:{}`, user `rotating`: 28P01", server.port)), "{log}");
    assert!(!log.contains("first-password") && !log.contains("second-password") && !log.contains("third-password"), "{log}");
}
