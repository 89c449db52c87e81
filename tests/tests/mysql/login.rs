//! Who is let in, and over which connection.

use std::fs;

use millrace_core::{
    Error,
    ErrorKind::{self, Configuration, Credentials, Denied},
    ports::Query,
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query, text},
    mysql::{Mysql, PASSWORD},
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

fn attempt(address: &str, options: &[(&str, &str)]) -> Result<bool, Error> {
    let database = Database::open(connection("mysql", address, options));
    let secured = "SELECT VARIABLE_VALUE <> '' FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'SSL_CIPHER'";
    database.run_with(&Query { deadline_ms: 20_000, ..query(secured) }).map(|rows| rows.rows[0][0] == Value::I64(1))
}

/// A certificate for a name, its key, and the authority that signed it, all PEM.
fn certified(name: &str) -> [String; 3] {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    [certificate.pem(), key.serialize_pem(), authority.pem()]
}

#[test]
fn every_way_to_be_let_in_or_not() {
    let server = Mysql::start(&["--plugin-load-add=auth_ed25519"]);
    server.run(
        "shop",
        "CREATE DATABASE other;
         CREATE USER native@'127.0.0.1' IDENTIFIED BY 'pw native';
         CREATE USER free@'127.0.0.1';
         CREATE USER locked@'127.0.0.1' IDENTIFIED BY 'x' ACCOUNT LOCK;
         CREATE USER elsewhere@'10.0.0.1' IDENTIFIED BY 'x';
         CREATE USER secured@'127.0.0.1' IDENTIFIED BY 'x' REQUIRE SSL;
         CREATE USER ed@'127.0.0.1' IDENTIFIED VIA ed25519 USING PASSWORD('x');
         GRANT SELECT ON shop.* TO native@'127.0.0.1';
         GRANT SELECT ON shop.* TO free@'127.0.0.1';",
    );
    let address = |user: &str| format!("mysql://{user}@127.0.0.1:{}/shop", server.port);
    for (user, password) in [("native", "pw native"), ("free", "")] {
        assert_eq!(attempt(&address(user), &[("password", password)]), Ok(false), "{user}");
    }
    let place = "MySQL";
    let methods = "MySQL requires a method of authentication that connector `mysql` does not have; it has `mysql_native_password`, \
                   `caching_sha2_password`, and with verified TLS `sha256_password` and `mysql_clear_password`";
    let cases: [(&str, &str, ErrorKind, String); 8] = [
        ("native", "wrong", Credentials, format!("{place} does not accept the user or the password")),
        ("native", "", Credentials, format!("{place} does not accept the user or the password")),
        ("free", "wrong", Credentials, format!("{place} does not accept the user or the password")),
        ("nobody", "wrong", Credentials, format!("{place} does not accept the user or the password")),
        ("elsewhere", "x", Credentials, format!("{place} does not accept the user or the password")),
        ("secured", "x", Credentials, format!("{place} does not accept the user or the password")),
        ("locked", "x", Denied, format!("{place} has locked the user of the adapter")),
        ("ed", "x", Configuration, methods.to_owned()),
    ];
    for (user, password, kind, message) in cases {
        let error = attempt(&address(user), &[("password", password)]).unwrap_err();
        assert_eq!((error.kind, error.message), (kind, message), "{user} {password}");
        // What the operator needs is for the log.
        let place = format!("`127.0.0.1:{}`, user `{user}`: ", server.port);
        assert!(user == "ed" || error.source.as_ref().unwrap().starts_with(&place), "{:?}", error.source);
    }
    let absent = attempt(&server.url("absent"), &[]).unwrap_err();
    assert_eq!((absent.kind, absent.message), (Configuration, format!("{place} has no database of this name")));
    let foreign = attempt(&format!("mysql://native:pw%20native@127.0.0.1:{}/other", server.port), &[]).unwrap_err();
    assert_eq!((foreign.kind, foreign.message), (Denied, format!("{place} does not admit the user of the adapter to the database")));
    let nameless = Database::open(connection("mysql", &server.url(""), &[]));
    assert_eq!(nameless.rows("SELECT DATABASE()"), [[Value::Null]]);
    assert_eq!(nameless.error("SELECT * FROM t").kind, Configuration);
    let attributes = Mysql::start(&["--performance-schema=ON"]);
    let said = "SELECT ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE ATTR_NAME = 'program_name' AND PROCESSLIST_ID = CONNECTION_ID()";
    assert_eq!(attributes.open().rows(said), [[text("millrace")]]);
}

#[test]
fn tls_as_the_connection_string_says() {
    let [certificate, key, authority] = certified("localhost");
    let [_, _, stranger] = certified("localhost");
    let server = Mysql::start_with_tls(&certificate, &key);
    server.run("shop", "CREATE USER secured@'127.0.0.1' IDENTIFIED BY 'x' REQUIRE SSL; GRANT SELECT ON shop.* TO secured@'127.0.0.1'");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, &authority).unwrap();
    let file = file.to_str().unwrap();
    let secured = |host: &str, options: &[(&str, &str)]| {
        let options: Vec<_> = options.iter().copied().chain([("password", PASSWORD)]).collect();
        attempt(&format!("mysql://admin@{host}:{}/shop", server.port), &options)
    };
    assert_eq!(secured("127.0.0.1", &[]), Ok(false), "on this machine");
    assert_eq!(secured("127.0.0.1", &[("sslmode", "disable")]), Ok(false));
    assert_eq!(secured("127.0.0.1", &[("sslmode", "prefer")]), Ok(true));
    assert_eq!(secured("127.0.0.1", &[("sslmode", "require")]), Ok(true));
    assert_eq!(secured("127.0.0.1", &[("sslmode", "verify-ca"), ("ca_certificate", &authority)]), Ok(true));
    assert_eq!(secured("127.0.0.1", &[("sslmode", "require"), ("sslrootcert", file)]), Ok(true));
    assert_eq!(secured("localhost", &[("sslmode", "verify-full"), ("sslrootcert", file)]), Ok(true));
    assert_eq!(secured("localhost", &[("ca_certificate", &authority)]), Ok(true));
    assert_eq!(attempt(&format!("mysql://secured:x@127.0.0.1:{}/shop?ssl-mode=REQUIRED", server.port), &[]), Ok(true));
    let cases: [(&str, &[(&str, &str)]); 4] = [
        ("127.0.0.1", &[("sslmode", "verify-full"), ("ca_certificate", &authority)]),
        ("localhost", &[("sslmode", "verify-full")]),
        ("localhost", &[("sslmode", "verify-ca"), ("ca_certificate", &stranger)]),
        ("localhost", &[("sslmode", "require"), ("ca_certificate", &stranger)]),
    ];
    for (host, options) in cases {
        let error = secured(host, options).unwrap_err();
        assert_eq!(error.kind, Denied, "{options:?}: {error:?}");
        assert!(error.message.starts_with("the certificate of the server is not trusted"), "{error:?}");
        assert!(error.source.as_ref().unwrap().starts_with(&format!("`{host}`: ")), "{error:?}");
    }
}

#[test]
fn a_server_without_tls_is_not_told_the_password() {
    let server = Mysql::start(&[]);
    let error = attempt(&format!("{}?sslmode=verify-full", server.url("shop")), &[]).unwrap_err();
    let expected = "MySQL offers no TLS; where the network between is trusted, set `sslmode=disable`";
    assert_eq!((error.kind, error.message.as_str()), (Configuration, expected));
    assert_eq!(attempt(&format!("{}?sslmode=prefer", server.url("shop")), &[]), Ok(false));
}
