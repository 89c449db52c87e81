use millrace_core::ports::Verify;

use super::*;

type Written<'a> = &'a [(&'a str, &'a str)];

fn parse(text: &str, options: Written<'_>) -> Result<PostgresAddress> {
    let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
    PostgresAddress::parse(text, &options)
}

fn settings(more: Written<'_>) -> Vec<(String, String)> {
    let own: Written<'_> = &[("application_name", "millrace"), ("TimeZone", "UTC")];
    own.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn plain(host: &str, port: u16, user: &str, password: Option<&str>, database: &str) -> PostgresAddress {
    PostgresAddress {
        host: host.into(),
        port,
        user: user.into(),
        database: database.into(),
        password: password.map(|password| Secret::new(password.to_owned())),
        aws_iam: false,
        encryption: Encryption::None,
        roots: Roots::Host,
        demands_proof: false,
        is_private: true,
        settings: settings(&[]),
        connect_timeout_ms: 5_000,
        max_connections: 4,
    }
}

#[test]
fn every_form_is_read() {
    let cases: [(&str, Written<'_>, PostgresAddress); 12] = [
        ("postgres://me:pw@localhost:5433/shop", &[], plain("localhost", 5433, "me", Some("pw"), "shop")),
        ("POSTGRESQL://me@127.0.0.1", &[], plain("127.0.0.1", 5432, "me", None, "me")),
        ("postgres://me:p%40%2F%3a@[::1]:1/a%20b?gssencmode=prefer", &[], plain("::1", 1, "me", Some("p@/:"), "a b")),
        ("postgres://me:p@ss:w@localhost/shop", &[], plain("localhost", 5432, "me", Some("p@ss:w"), "shop")),
        ("postgres://localhost/shop?user=me&password=pw", &[], plain("localhost", 5432, "me", Some("pw"), "shop")),
        ("postgres://me@localhost/shop", &[("password", " p/w ")], plain("localhost", 5432, "me", Some("p/w"), "shop")),
        (
            "postgres://me:pw@localhost/shop?sslmode=disable&sslmode=disable",
            &[("sslmode", "disable"), ("password", "pw")],
            plain("localhost", 5432, "me", Some("pw"), "shop"),
        ),
        (
            "postgres://me@localhost/shop?pgbouncer=true&connection_limit=1&pool_timeout=20&schema=a%22b&supa=base-pooler.x",
            &[],
            PostgresAddress {
                max_connections: 1,
                settings: settings(&[("search_path", "\"a\"\"b\"")]),
                ..plain("localhost", 5432, "me", None, "shop")
            },
        ),
        ("postgres://me:pw@localhost/shop", &[("password", "")], plain("localhost", 5432, "me", Some("pw"), "shop")),
        ("host=localhost user=me password='p w\\'' dbname = shop port=7", &[], plain("localhost", 7, "me", Some("p w'"), "shop")),
        (
            "postgres://me@localhost?connect_timeout=2&max_connections=9&search_path=a%2Cb&application_name=x",
            &[],
            PostgresAddress {
                connect_timeout_ms: 2_000,
                max_connections: 9,
                settings: [("application_name", "x"), ("TimeZone", "UTC"), ("search_path", "a,b")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .to_vec(),
                ..plain("localhost", 5432, "me", None, "me")
            },
        ),
        (
            "postgres://me@localhost?options=endpoint%3Dx",
            &[("connect_timeout", "250ms"), ("max_connections", "1")],
            PostgresAddress {
                connect_timeout_ms: 250,
                max_connections: 1,
                settings: settings(&[("options", "endpoint=x")]),
                ..plain("localhost", 5432, "me", None, "me")
            },
        ),
    ];
    for (text, options, expected) in cases {
        assert_eq!(parse(text, options).unwrap(), expected, "{text}");
    }
}

#[test]
fn encryption_is_closed_by_default() {
    use Encryption::{None, Preferred, Required};
    let pem = || Roots::Pem("-----BEGIN".into());
    let cases: [(&str, Written<'_>, Encryption, Roots); 15] = [
        ("postgres://me@db.example", &[], Required(Verify::Full), Roots::Host),
        ("postgres://me@10.0.0.1", &[], Required(Verify::Full), Roots::Host),
        ("postgres://me@localhost", &[], None, Roots::Host),
        ("postgres://me@127.9.9.9", &[], None, Roots::Host),
        ("postgres://me@localhost?sslmode=verify-full", &[], Required(Verify::Full), Roots::Host),
        ("postgres://me@db?sslmode=disable", &[], None, Roots::Host),
        ("postgres://me@db?sslmode=prefer", &[], Preferred(Verify::Nothing), Roots::Host),
        ("postgres://me@db", &[("sslmode", "require")], Required(Verify::Nothing), Roots::Host),
        ("postgres://me@db?sslmode=require&channel_binding=require", &[], Required(Verify::Full), Roots::Host),
        ("postgres://me@db?sslmode=require&sslrootcert=ca.pem", &[], Required(Verify::Chain), Roots::File("ca.pem".into())),
        ("postgres://me@db?sslmode=prefer", &[("ca_certificate", "-----BEGIN")], Required(Verify::Chain), pem()),
        ("postgres://me@db?sslmode=verify-ca", &[], Required(Verify::Chain), Roots::Host),
        ("postgres://me@db?sslrootcert=system", &[], Required(Verify::Full), Roots::Host),
        ("postgres://me@localhost", &[("ca_certificate", "-----BEGIN")], Required(Verify::Full), pem()),
        ("postgres://me@localhost?channel_binding=require", &[], Required(Verify::Full), Roots::Host),
    ];
    for (text, options, encryption, roots) in cases {
        let address = parse(text, options).unwrap();
        assert_eq!((address.encryption, address.roots), (encryption, roots), "{text}");
    }
}

#[test]
fn what_is_wrong_is_named_and_no_secret_is_shown() {
    let cases: [(&str, Written<'_>, &str); 36] = [
        ("", &[], "is neither a URI nor"),
        ("hunter2", &[], "is neither a URI nor"),
        ("mysql://me:hunter2@db", &[], "is a URI of something else"),
        ("postgres://", &[], "names no host"),
        ("postgres://me:hunter2@/db", &[], "has no host where it is looked for"),
        ("postgres://me:hunter2/x@db", &[], "write `%2F` for `/`"),
        ("postgres://db/hunter2", &[], "names no user"),
        ("postgres://me@db:hunter2", &[], "has a wrong port"),
        ("postgres://me@db:0", &[], "has a wrong port"),
        ("postgres://me@db:65536", &[], "has a wrong port"),
        ("postgres://me@db:+1", &[], "has a wrong port"),
        ("postgres://me@db:", &[], "has a wrong port"),
        ("postgres://me@[::1]hunter2:1", &[], "has a wrong port"),
        ("postgres://me@[hunter2]", &[], "names no host"),
        ("host=db user=me port=hunter2", &[], "`port` of connector `postgres` must be a number"),
        ("postgres://me@a:1,b:2", &[], "names several hosts"),
        ("postgres://me@[::1", &[], "has a `[` without a `]`"),
        ("postgres://me@%2Fvar%2Frun", &[], "names a socket of the file system"),
        ("postgres://me@a,b", &[], "names several hosts"),
        ("postgres://me@a%20b", &[], "has a host with a character that a host name cannot have"),
        ("postgres://me:%ff@db", &[], "has percent-encoding that is not UTF-8"),
        ("postgres://me@db?sslmode=hunter2", &[], "`sslmode` of connector `postgres` must be"),
        ("postgres://me@db?sslmode=allow", &[], "`sslmode` of connector `postgres` must be"),
        ("postgres://me@db?sslmode=disable&channel_binding=require", &[], "contradicts"),
        ("postgres://me@db?sslmode=disable&sslrootcert=x", &[], "contradicts"),
        ("postgres://me@db?sslrootcert=x", &[("ca_certificate", "hunter2")], "not both"),
        ("postgres://me@db?channel_binding=hunter2", &[], "`channel_binding` of connector"),
        ("postgres://me@db?hunter=2", &[], "sets `hunter`, which connector `postgres` does not know"),
        ("postgres://me@db?target_session_attrs=read-write", &[], "does not support `target_session_attrs`"),
        ("postgres://me@db?connect_timeout=hunter2", &[], "`connect_timeout` of connector"),
        ("postgres://me@db?connect_timeout=100000", &[], "up to 60 seconds"),
        ("postgres://me@db?max_connections=0", &[], "`max_connections` of connector"),
        ("postgres://me:hunter2@db", &[("password", "hunter22")], "`password` of connector `postgres` is set to different values"),
        ("postgres://me@db", &[("host", "hunter2")], "has no option `host`"),
        ("host=db user='hunter2", &[], "has a quote that is not closed"),
        ("host=db user=me hunter2", &[], "has a name without a value"),
    ];
    for (text, options, part) in cases {
        let error = parse(text, options).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration, "{text}");
        assert!(error.message.contains(part), "{text}: {}", error.message);
        assert!(!error.message.contains("hunter2"), "{text}: {}", error.message);
    }
}
