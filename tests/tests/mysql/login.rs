//! Who is let in, and over which connection.

use millrace_core::{
    ErrorKind::{self, Configuration, Credentials, Denied},
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, text},
    mysql::Mysql,
};

use crate::contract::mysql::LOGIN;

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
        assert_eq!(LOGIN.attempt(&address(user), &[("password", password)]), Ok(false), "{user}");
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
        let error = LOGIN.attempt(&address(user), &[("password", password)]).unwrap_err();
        assert_eq!((error.kind, error.message.clone()), (kind, message), "{user} {password}");
        // What the operator needs is for the log.
        let place = format!("`127.0.0.1:{}`, user `{user}`: ", server.port);
        assert!(user == "ed" || error.source.as_ref().unwrap().starts_with(&place), "{:?}", error.source);
    }
    let absent = LOGIN.attempt(&server.url("absent"), &[]).unwrap_err();
    assert_eq!((absent.kind, absent.message.clone()), (Configuration, format!("{place} has no database of this name")));
    let foreign = LOGIN.attempt(&format!("mysql://native:pw%20native@127.0.0.1:{}/other", server.port), &[]).unwrap_err();
    assert_eq!(
        (foreign.kind, foreign.message.clone()),
        (Denied, format!("{place} does not admit the user of the adapter to the database"))
    );
    let nameless = Database::open(connection("mysql", &server.url(""), &[]));
    assert_eq!(nameless.rows("SELECT DATABASE()"), [[Value::Null]]);
    assert_eq!(nameless.error("SELECT * FROM t").kind, Configuration);
    let attributes = Mysql::start(&["--performance-schema=ON"]);
    let said = "SELECT ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE ATTR_NAME = 'program_name' AND PROCESSLIST_ID = CONNECTION_ID()";
    assert_eq!(attributes.open().rows(said), [[text("millrace")]]);
}

#[test]
fn tls_as_the_connection_string_says() {
    let start = |certificate: &str, key: &str| {
        let server = Mysql::start_with_tls(certificate, key);
        let port = server.port;
        (server, port)
    };
    LOGIN.tls_as_the_connection_string_says(start, &[], |server, port, _| {
        server.run("shop", "CREATE USER secured@'127.0.0.1' IDENTIFIED BY 'x' REQUIRE SSL; GRANT SELECT ON shop.* TO secured@'127.0.0.1'");
        assert_eq!(LOGIN.attempt(&format!("mysql://secured:x@127.0.0.1:{port}/shop?ssl-mode=REQUIRED"), &[]), Ok(true));
    });
}

#[test]
fn a_server_without_tls_is_not_told_the_password() {
    LOGIN.a_server_without_tls_is_not_told_the_password(&Mysql::shared().url("shop"), "MySQL");
}
