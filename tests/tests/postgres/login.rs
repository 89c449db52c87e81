//! Who is let in, and over which connection.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use millrace_core::ErrorKind::{self, Configuration, Credentials, Denied, Protocol, Unavailable};
use millrace_tests::{
    database::{Database, connection},
    postgres::{Postgres, psql},
};

use crate::contract::postgres::LOGIN;

#[test]
fn every_way_to_send_a_password() {
    let mut server = Postgres::start(&[]);
    let admin = server.url("postgres");
    psql(
        &admin,
        "CREATE ROLE scram LOGIN PASSWORD 'pw scram';\nCREATE ROLE outside LOGIN PASSWORD 'x';\nSET password_encryption = 'md5';\nCREATE ROLE hashed LOGIN PASSWORD 'pw md5';\nCREATE ROLE plain LOGIN PASSWORD 'pw plain';\nCREATE ROLE free LOGIN;\nCREATE ROLE shut LOGIN;\nREVOKE CONNECT ON DATABASE postgres FROM public;\nGRANT CONNECT ON DATABASE postgres TO scram, hashed, plain, free;\n",
    );
    server.let_in(&[
        "host all hashed 127.0.0.1/32 md5",
        "host all plain 127.0.0.1/32 password",
        "host all free 127.0.0.1/32 trust",
        "host all shut 127.0.0.1/32 reject",
        "host all all 127.0.0.1/32 scram-sha-256",
    ]);
    let address = |user: &str| format!("postgres://{user}@127.0.0.1:{}/postgres", server.port);
    for (user, password) in [("scram", "pw scram"), ("hashed", "pw md5"), ("plain", "pw plain"), ("free", "")] {
        assert_eq!(LOGIN.attempt(&address(user), &[("password", password)]), Ok(false), "{user}");
    }
    let place = "PostgreSQL";
    let cases: [(&str, &str, ErrorKind, String); 7] = [
        ("scram", "wrong", Credentials, format!("{place} does not accept the password")),
        ("hashed", "wrong", Credentials, format!("{place} does not accept the password")),
        ("plain", "wrong", Credentials, format!("{place} does not accept the password")),
        ("nobody", "wrong", Credentials, format!("{place} does not accept the password")),
        ("shut", "wrong", Denied, format!("{place} does not admit the user of the adapter from this address, or without TLS")),
        ("outside", "x", Denied, format!("{place} does not admit the user of the adapter to the database")),
        ("scram", "", Configuration, "PostgreSQL requires a password, and the connection string and the options have none".into()),
    ];
    for (user, password, kind, message) in cases {
        let error = LOGIN.attempt(&address(user), &[("password", password)]).unwrap_err();
        assert_eq!((error.kind, error.message.clone()), (kind, message), "{user} {password}");
        // What the operator needs is for the log.
        let place = format!("`127.0.0.1:{}`, user `{user}`: ", server.port);
        assert!(password.is_empty() || error.source.as_ref().unwrap().starts_with(&place), "{:?}", error.source);
    }
    let absent = LOGIN.attempt(&server.url("absent"), &[]).unwrap_err();
    assert_eq!((absent.kind, absent.message.clone()), (Configuration, format!("{place} has no database of this name")));
    let setting = LOGIN.attempt(&admin, &[("timezone", "Nowhere/Land")]).unwrap_err();
    assert_eq!(
        (setting.kind, setting.message.clone()),
        (Configuration, format!("{place} does not know a setting of the connection string"))
    );
    let proof = LOGIN.attempt(&address("free"), &[("channel_binding", "require")]).unwrap_err();
    assert_eq!(
        (proof.kind, proof.message.clone()),
        (Configuration, "PostgreSQL offers no TLS; where the network between is trusted, set `sslmode=disable`".to_owned())
    );
}

/// A server that reads something and answers with these bytes, then closes; again and again.
fn parrot(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let mut bytes = [0; 1000];
            if socket.read(&mut bytes).is_ok_and(|count| count > 0) {
                drop(socket.write_all(answer));
            }
        }
    });
    port
}

#[test]
fn what_is_no_postgres_is_told_from_one() {
    const CLEARTEXT: &[u8] = b"R\0\0\0\x08\0\0\0\x03";
    let cases: [(&[u8], &str, ErrorKind, &str); 7] = [
        (b"", "", Unavailable, "PostgreSQL closed the connection"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "", Protocol, "PostgreSQL sent a message that is not understood"),
        (b"R\xff\xff\xff\xff", "", Protocol, "PostgreSQL sent a message that is not understood"),
        (b"R\0\0\0\x08\0\0\0\x63", "", Protocol, "PostgreSQL sent a message that is not understood"),
        (
            b"R\0\0\0\x08\0\0\0\x07",
            "",
            Configuration,
            "PostgreSQL requires a method of authentication that connector `postgres` does not have; it has passwords (SCRAM-SHA-256, \
             MD5, plain)",
        ),
        (b"x", "require", Protocol, "PostgreSQL sent a message that is not understood"),
        (b"SR\0\0\0\x08\0\0\0\0", "require", Unavailable, "the server and this host have no TLS version or cipher in common"),
    ];
    for (answer, mode, kind, message) in cases {
        let address = format!("postgres://me:hunter2@127.0.0.1:{}/x", parrot(answer));
        let database = Database::open(connection("postgres", &address, &[("sslmode", mode)]));
        let error = database.error("SELECT 1");
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{answer:?}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
    // Over a network, a password is not sent as it is; on this machine it is.
    let address = format!("postgres://me:hunter2@0.0.0.0:{}/x?sslmode=disable", parrot(CLEARTEXT));
    let error = Database::open(connection("postgres", &address, &[])).error("SELECT 1");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (Denied, "PostgreSQL requires the password itself, and the connection has no TLS; set `sslmode=verify-full`")
    );
}

#[test]
fn tls_as_the_connection_string_says() {
    let start = |certificate: &str, key: &str| {
        let server = Postgres::start_with_tls(certificate, key);
        let port = server.port;
        (server, port)
    };
    LOGIN.tls_as_the_connection_string_says(start, &[("channel_binding", "require")], |mut server, port, authority| {
        // Nor is a password sent as it is to a server that nobody verified, but on this machine.
        server.let_in(&["host all all 127.0.0.1/32 password"]);
        for mode in ["require", "prefer"] {
            let error = LOGIN.secured("0.0.0.0", port, &[("sslmode", mode)]).unwrap_err();
            assert_eq!(error.kind, Denied, "{error:?}");
            assert!(error.message.contains("which is sent only to a server whose certificate was verified"), "{error:?}");
        }
        assert_eq!(LOGIN.secured("127.0.0.1", port, &[("sslmode", "require")]), Ok(true));
        assert_eq!(LOGIN.secured("0.0.0.0", port, &[("sslmode", "verify-ca"), ("ca_certificate", authority)]), Ok(true));
        let missing = LOGIN.secured("localhost", port, &[("sslrootcert", "/no/such/file.pem")]).unwrap_err();
        let message = "the file of root certificates `/no/such/file.pem` cannot be read";
        assert_eq!((missing.kind, missing.message.as_str()), (Configuration, message));
    });
}

#[test]
fn a_server_without_tls_is_not_told_the_password() {
    LOGIN.a_server_without_tls_is_not_told_the_password(&Postgres::shared().url("postgres"), "PostgreSQL");
}
