//! Users, passwords, databases and TLS.

use std::fs;

use millrace_core::ErrorKind::{Configuration, Credentials, Denied, Unavailable};
use millrace_tests::{
    database::{Database, connection},
    redis,
};

use super::support::{json, run};
use crate::certificates::certified;

const PASSWORD: &str = "hunter2/@:#%";
const ENCODED: &str = "hunter2%2F%40%3A%23%25";

#[test]
fn users_passwords_and_databases() {
    let server = redis::start(&["--requirepass", PASSWORD, "--databases", "4", "--user", "reader", "on", ">hunter3", "~*", "+@all"]);
    let name = "the Redis server";
    let at = |who: &str, database: &str| format!("redis://{who}127.0.0.1:{}{database}", server.port);
    let open = |url: &str, options: &[(&str, &str)]| Database::open(connection("redis", url, options));
    run(&open(&at(&format!(":{ENCODED}@"), "/2"), &[]), "SET k two").unwrap();
    for (url, options, expected) in [
        (at("reader:hunter3@", "/2"), &[][..], r#"[{"value":"two"}]"#),
        (at("", "/2"), &[("password", PASSWORD)], r#"[{"value":"two"}]"#),
        (at("", "/2"), &[("user", "reader"), ("password", "hunter3")], r#"[{"value":"two"}]"#),
        (at(&format!("default:{ENCODED}@"), ""), &[], r#"[{"value":null}]"#),
    ] {
        assert_eq!(json(&open(&url, options), "GET k"), expected, "{url}");
    }
    for (url, kind, expected) in [
        (at("", ""), Credentials, "requires a password"),
        (at(":hunter3@", ""), Credentials, "does not accept the user and the password"),
        (at("nobody:hunter3@", ""), Credentials, "does not accept the user and the password"),
        (at(&format!(":{ENCODED}@"), "/4"), Configuration, "has no database of that number"),
    ] {
        let error = run(&open(&url, &[]), "GET k").unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, format!("{name} {expected}").as_str()));
        assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
        assert!(error.source.as_deref().unwrap().starts_with(&format!("`127.0.0.1:{}`", server.port)));
        assert_eq!(open(&url, &[]).ping().unwrap_err().kind, kind);
    }
    open(&at("reader:hunter3@", ""), &[]).ping().unwrap();
    let without = redis::start(&[]);
    let error = run(&open(&format!("redis://:hunter2@127.0.0.1:{}", without.port), &[]), "GET k").unwrap_err();
    assert!(error.kind == Credentials && error.message.ends_with("does not accept the password"), "{error:?}");
}

#[test]
fn tls_is_verified() {
    let [certificate, key, authority] = certified("localhost");
    let server = redis::start_tls(move |folder| {
        fs::write(folder.join("cert.pem"), &certificate).unwrap();
        fs::write(folder.join("key.pem"), &key).unwrap();
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &authority).unwrap();
    let path = file.path().to_str().unwrap();
    let open = |scheme: &str, host: &str, options: &[(&str, &str)]| {
        Database::open(connection("redis", &format!("{scheme}://{host}:{}", server.port), options))
    };
    for options in [[("ca_file", path)], [("ca_certificate", authority.as_str())]] {
        run(&open("rediss", "localhost", &options), "SET k v").unwrap();
        let error = run(&open("rediss", "127.0.0.1", &options), "GET k").unwrap_err();
        assert_eq!(error.kind, Denied, "the certificate is for another name: {error:?}");
    }
    assert_eq!(run(&open("rediss", "localhost", &[]), "GET k").unwrap_err().kind, Denied, "nobody trusts it");
    assert!(run(&open("redis", "localhost", &[]), "GET k").is_err(), "the server speaks TLS");
    let plain = redis::start(&[]);
    let error =
        run(&Database::open(connection("redis", &format!("rediss://localhost:{}", plain.port), &[("connect_timeout", "500ms")])), "GET k")
            .unwrap_err();
    assert_eq!(error.kind, Unavailable, "{error:?}");
}
