//! Who is let in, and over which connection.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use millrace_core::{
    Error,
    ErrorKind::{self, Configuration, Credentials, Denied, Protocol, Unavailable},
    ports::Query,
    value::Value,
};
use millrace_tests::{
    database::{Database, connection, query},
    postgres::{PASSWORD, Postgres, psql},
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

const SECURED: &str = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

fn attempt(address: &str, options: &[(&str, &str)]) -> Result<Vec<Vec<Value>>, Error> {
    let database = Database::open(connection("postgres", address, options));
    database.run_with(&Query { deadline_ms: 20_000, ..query(SECURED) }).map(|rows| rows.rows)
}

/// A certificate for a name, its key, and the authority that signed it, all PEM.
pub(super) fn certified(name: &str) -> [String; 3] {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    [certificate.pem(), key.serialize_pem(), authority.pem()]
}

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
        assert_eq!(attempt(&address(user), &[("password", password)]), Ok(vec![vec![Value::Bool(false)]]), "{user}");
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
        let error = attempt(&address(user), &[("password", password)]).unwrap_err();
        assert_eq!((error.kind, error.message), (kind, message), "{user} {password}");
        // What the operator needs is for the log.
        let place = format!("`127.0.0.1:{}`, user `{user}`: ", server.port);
        assert!(password.is_empty() || error.source.as_ref().unwrap().starts_with(&place), "{:?}", error.source);
    }
    let absent = attempt(&server.url("absent"), &[]).unwrap_err();
    assert_eq!((absent.kind, absent.message), (Configuration, format!("{place} has no database of this name")));
    let setting = attempt(&admin, &[("timezone", "Nowhere/Land")]).unwrap_err();
    assert_eq!((setting.kind, setting.message), (Configuration, format!("{place} does not know a setting of the connection string")));
    let proof = attempt(&address("free"), &[("channel_binding", "require")]).unwrap_err();
    assert_eq!(
        (proof.kind, proof.message),
        (Configuration, "PostgreSQL offers no TLS; where the network between is trusted, set `sslmode=disable`".to_owned())
    );
}

#[test]
fn tls_as_the_connection_string_says() {
    let [certificate, key, authority] = certified("localhost");
    let [_, _, stranger] = certified("localhost");
    let server = Postgres::start_with_tls(&certificate, &key);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, &authority).unwrap();
    let file = file.to_str().unwrap();
    let secured = |host: &str, options: &[(&str, &str)]| {
        let options: Vec<_> = options.iter().copied().chain([("password", PASSWORD)]).collect();
        attempt(&format!("postgres://postgres@{host}:{}/postgres", server.port), &options)
    };
    let tls = |is_secured| Ok(vec![vec![Value::Bool(is_secured)]]);
    assert_eq!(secured("127.0.0.1", &[]), tls(false), "on this machine");
    assert_eq!(secured("127.0.0.1", &[("sslmode", "disable")]), tls(false));
    assert_eq!(secured("127.0.0.1", &[("sslmode", "prefer")]), tls(true));
    assert_eq!(secured("127.0.0.1", &[("sslmode", "require")]), tls(true));
    assert_eq!(secured("127.0.0.1", &[("sslmode", "verify-ca"), ("ca_certificate", &authority)]), tls(true));
    assert_eq!(secured("127.0.0.1", &[("sslmode", "require"), ("sslrootcert", file)]), tls(true));
    assert_eq!(secured("localhost", &[("sslmode", "verify-full"), ("sslrootcert", file)]), tls(true));
    assert_eq!(secured("localhost", &[("ca_certificate", &authority)]), tls(true));
    assert_eq!(secured("localhost", &[("channel_binding", "require"), ("ca_certificate", &authority)]), tls(true));
    let cases: [(&str, &[(&str, &str)]); 5] = [
        ("127.0.0.1", &[("sslmode", "verify-full"), ("ca_certificate", &authority)]),
        ("localhost", &[("sslmode", "verify-full")]),
        ("localhost", &[("sslmode", "verify-ca"), ("ca_certificate", &stranger)]),
        ("localhost", &[("sslmode", "require"), ("ca_certificate", &stranger)]),
        ("localhost", &[("sslmode", "require"), ("channel_binding", "require")]),
    ];
    for (host, options) in cases {
        let error = secured(host, options).unwrap_err();
        assert_eq!(error.kind, Denied, "{options:?}: {error:?}");
        assert!(error.message.starts_with("the certificate of the server is not trusted"), "{error:?}");
        assert!(error.source.as_ref().unwrap().starts_with(&format!("`{host}`: ")), "{error:?}");
    }
    // Nor is a password sent as it is to a server that nobody verified, but on this machine.
    let mut server = server;
    server.let_in(&["host all all 127.0.0.1/32 password"]);
    let itself = |host: &str, options: &[(&str, &str)]| {
        let options: Vec<_> = options.iter().copied().chain([("password", PASSWORD)]).collect();
        attempt(&format!("postgres://postgres@{host}:{}/postgres", server.port), &options)
    };
    for mode in ["require", "prefer"] {
        let error = itself("0.0.0.0", &[("sslmode", mode)]).unwrap_err();
        assert_eq!(error.kind, Denied, "{error:?}");
        assert!(error.message.contains("which is sent only to a server whose certificate was verified"), "{error:?}");
    }
    assert_eq!(itself("127.0.0.1", &[("sslmode", "require")]), tls(true));
    assert_eq!(itself("0.0.0.0", &[("sslmode", "verify-ca"), ("ca_certificate", &authority)]), tls(true));
    let missing = itself("localhost", &[("sslrootcert", "/no/such/file.pem")]).unwrap_err();
    assert_eq!(
        (missing.kind, missing.message.as_str()),
        (Configuration, "the file of root certificates `/no/such/file.pem` cannot be read")
    );
}

#[test]
fn a_server_without_tls_is_not_told_the_password() {
    let server = Postgres::start(&[]);
    let database = Database::open(server.connection(&[("sslmode", "verify-full")]));
    let error = database.error("SELECT 1");
    let expected = "PostgreSQL offers no TLS; where the network between is trusted, set `sslmode=disable`";
    assert_eq!((error.kind, error.message.as_str()), (Configuration, expected));
    let preferred = Database::open(server.connection(&[("sslmode", "prefer")]));
    assert_eq!(preferred.rows(SECURED), [[Value::Bool(false)]]);
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
