//! Where the server is and how to talk to it, from a connection string and the options.
//!
//! The string is a URI, `mysql://user:password@host:port/database?sslmode=require`. What MySQL's
//! own programs and hosted databases write about TLS in it (`ssl-mode=REQUIRED`,
//! `sslaccept=strict`) is understood, too.

use millrace_catalogue::{MYSQL, NO_HYPERDRIVE, names_hyperdrive};
use millrace_core::{Error, ErrorKind, Result, ports::Roots, secret::Secret};

use super::mode;
use crate::{
    mysql_text::connection_pairs,
    shared::{Encryption, KnownOptions, ServerOptions},
};

const KNOWN: KnownOptions = KnownOptions {
    connector: "mysql",
    names: "`ca_certificate`, `connect_timeout`, `max_connections`, `password`, `sql_mode`, `sslmode`, `sslrootcert`, `user`",
    harmless: &[("charset", &["utf8mb4"]), ("timezone", &["UTC", "Z", "+00:00"])],
};
const FORM: &str = "use `mysql://user:password@host:port/database`";
/// A server, and how to talk to it.
#[derive(Debug, PartialEq)]
pub(crate) struct MysqlAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) database: Option<String>,
    pub(crate) password: Option<Secret<String>>,
    pub(crate) encryption: Encryption,
    pub(crate) roots: Roots,
    pub(crate) connect_timeout_ms: u64,
    pub(crate) max_connections: usize,
    /// The expression that the `sql_mode` of each session is set to.
    pub(crate) sql_mode: String,
}

impl MysqlAddress {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(crate) fn parse(written: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let wrong = |why: String| Error::new(ErrorKind::Configuration, format!("the connection string of connector `mysql` {why}"));
        if names_hyperdrive(written) {
            return Err(wrong(format!("names a Hyperdrive: {NO_HYPERDRIVE}")));
        }
        let mut settings = ServerOptions::gather(&KNOWN, connection_pairs(written, MYSQL.schemes, FORM).map_err(wrong)?, options)?;
        let host = settings.demand("host")?;
        let port = settings.port(3306)?;
        settings.check_host(&host)?;
        let user = settings.demand("user")?;
        let (encryption, roots) = settings.encryption(&host, false)?;
        let address = Self {
            user,
            database: settings.take("dbname"),
            password: settings.take("password").map(Secret::new),
            connect_timeout_ms: settings.connect_timeout_ms()?,
            max_connections: settings.max_connections()?,
            sql_mode: mode::expression(&mut settings)?,
            port,
            encryption,
            roots,
            host,
        };
        let texts = [Some(&address.user), address.database.as_ref(), address.password.as_ref().map(Secret::expose)];
        if texts.into_iter().flatten().any(|text| text.contains('\0')) {
            return Err(wrong("or an option contains a NUL character".to_owned()));
        }
        Ok(address)
    }

    /// Where it is, and whom it is asked as, for the log.
    pub(crate) fn place(&self) -> String {
        format!("`{}:{}`, user `{}`", self.host, self.port, self.user)
    }
}

#[cfg(test)]
mod tests {
    use millrace_core::ports::Verify;

    use super::*;

    type Written<'a> = &'a [(&'a str, &'a str)];

    fn parse(text: &str, options: Written<'_>) -> Result<MysqlAddress> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        MysqlAddress::parse(text, &options)
    }

    fn plain(host: &str, port: u16, user: &str, password: Option<&str>, database: Option<&str>) -> MysqlAddress {
        MysqlAddress {
            host: host.into(),
            port,
            user: user.into(),
            database: database.map(str::to_owned),
            password: password.map(|password| Secret::new(password.to_owned())),
            encryption: Encryption::None,
            roots: Roots::Host,
            connect_timeout_ms: 5_000,
            max_connections: 4,
            sql_mode: mode::expression(&mut ServerOptions::gather(&KNOWN, Vec::new(), &[]).unwrap()).unwrap(),
        }
    }

    #[test]
    fn every_form_is_read() {
        let cases: [(&str, Written<'_>, MysqlAddress); 11] = [
            ("mysql://me:pw@localhost:3307/shop", &[], plain("localhost", 3307, "me", Some("pw"), Some("shop"))),
            ("MariaDB://me@127.0.0.1", &[], plain("127.0.0.1", 3306, "me", None, None)),
            ("mysql://me:p%40%2F%3a@[::1]:1/a%20b?charset=utf8mb4", &[], plain("::1", 1, "me", Some("p@/:"), Some("a b"))),
            ("mysql://me:p@ss:w@localhost/shop", &[], plain("localhost", 3306, "me", Some("p@ss:w"), Some("shop"))),
            ("mysql://localhost/shop", &[("user", "me"), ("password", " p/w ")], plain("localhost", 3306, "me", Some("p/w"), Some("shop"))),
            ("mysql://me:pw@localhost/", &[("password", "")], plain("localhost", 3306, "me", Some("pw"), None)),
            (
                "me:p@s(s:/w)/?@tcp(localhost:3307)/shop?parseTime=true&loc=UTC",
                &[],
                plain("localhost", 3307, "me", Some("p@s(s:/w)/?"), Some("shop")),
            ),
            ("me@tcp([::1])/a%2Fb?charset=utf8mb4", &[], plain("::1", 3306, "me", None, Some("a/b"))),
            (
                "me@tcp(localhost)/?timeout=2s&readTimeout=30s",
                &[("password", "pw")],
                MysqlAddress { connect_timeout_ms: 2_000, ..plain("localhost", 3306, "me", Some("pw"), None) },
            ),
            (
                "mysql://me@localhost/shop?connection_limit=9&pool_timeout=10&sslmode=disable",
                &[("sslmode", "disable")],
                MysqlAddress { max_connections: 9, ..plain("localhost", 3306, "me", None, Some("shop")) },
            ),
            (
                "mysql://me@localhost?connect_timeout=2&max_connections=9",
                &[],
                MysqlAddress { connect_timeout_ms: 2_000, max_connections: 9, ..plain("localhost", 3306, "me", None, None) },
            ),
        ];
        for (text, options, expected) in cases {
            assert_eq!(parse(text, options).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn encryption_is_closed_by_default() {
        use Encryption::{None, Preferred, Required};
        let cases: [(&str, Written<'_>, Encryption, Roots); 16] = [
            ("mysql://me@db.example", &[], Required(Verify::Full), Roots::Host),
            ("mysql://me@10.0.0.1", &[], Required(Verify::Full), Roots::Host),
            ("mysql://me@localhost", &[], None, Roots::Host),
            ("mysql://me@db?sslmode=disable", &[], None, Roots::Host),
            ("mysql://me@db?ssl-mode=DISABLED", &[], None, Roots::Host),
            ("me:pw@tcp(db:3306)/shop?tls=true", &[], Required(Verify::Full), Roots::Host),
            ("me:pw@tcp(db:3306)/shop", &[], Required(Verify::Full), Roots::Host),
            ("me:pw@tcp(db:3306)/shop?tls=skip-verify", &[], Required(Verify::Nothing), Roots::Host),
            ("mysql://me@db?ssl_mode=required", &[], Required(Verify::Nothing), Roots::Host),
            ("mysql://me@db?ssl-mode=PREFERRED", &[], Preferred(Verify::Nothing), Roots::Host),
            ("mysql://me@db?ssl-mode=VERIFY_CA", &[], Required(Verify::Chain), Roots::Host),
            ("mysql://me@localhost?sslaccept=strict", &[], Required(Verify::Full), Roots::Host),
            ("mysql://me@db?ssl=%7B%22rejectUnauthorized%22:true%7D", &[], Required(Verify::Full), Roots::Host),
            ("mysql://me@db?sslmode=require&sslrootcert=ca.pem", &[], Required(Verify::Chain), Roots::File("ca.pem".into())),
            ("mysql://me@localhost", &[("ca_certificate", "-----BEGIN")], Required(Verify::Full), Roots::Pem("-----BEGIN".into())),
            ("mysql://me@db", &[("sslmode", "verify-ca")], Required(Verify::Chain), Roots::Host),
        ];
        for (text, options, encryption, roots) in cases {
            let address = parse(text, options).unwrap();
            assert_eq!((address.encryption, address.roots), (encryption, roots), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let cases: [(&str, Written<'_>, &str); 29] = [
            ("", &[], "is not a URI"),
            ("hunter2", &[], "is not a URI"),
            (" Hyperdrive:DB", &[], "names a Hyperdrive: Cloudflare's Hyperdrive does not prepare"),
            ("me:hunter2@unix(/tmp/hunter2)/db", &[], "names a socket of the file system"),
            ("me:hunter2@udp(hunter2)/db", &[], "names a network that is not known"),
            ("me:hunter2@tcp(db:x)/db", &[], "has a wrong port"),
            ("me:hunter2@tcp(db)/db?tls=hunter2", &[], "sets `tls` to a value that is not known"),
            ("postgres://me:hunter2@db", &[], "is a URI of something else"),
            ("mysqlx://me:hunter2@db", &[], "is a URI of something else"),
            ("mysql://", &[], "has no host where it is looked for"),
            ("mysql://me:hunter2@/db", &[], "has no host where it is looked for"),
            ("mysql://me:hunter2/x@db", &[], "write `%2F` for `/`"),
            ("mysql://db/hunter2", &[], "names no user"),
            ("mysql://me@db:hunter2", &[], "has a wrong port"),
            ("mysql://me@db:0", &[], "has a wrong port"),
            ("mysql://me@a:1,b:2", &[], "names several hosts"),
            ("mysql://me@[::1", &[], "has a `[` without a `]`"),
            ("mysql://me@%2Fvar%2Frun", &[], "names a socket of the file system"),
            ("mysql://me@a%20b", &[], "has a host with a character that a host name cannot have"),
            ("mysql://me:%ff@db", &[], "has percent-encoding that is not UTF-8"),
            ("mysql://me:hunter2%00@db", &[], "contains a NUL character"),
            ("mysql://me@db?sslmode=hunter2", &[], "`sslmode` of connector `mysql` must be"),
            ("mysql://me@db?ssl-mode=hunter2", &[], "sets `ssl-mode` to a value that is not known"),
            ("mysql://me@db?ssl=%7B%22rejectUnauthorized%22:false%7D", &[], "sets `ssl` to a value that is not known"),
            ("mysql://me@db?sslmode=disable&ssl-mode=required", &[], "`sslmode` of connector `mysql` is set to different values"),
            ("mysql://me@db?charset=latin1", &[], "does not support `charset`"),
            ("mysql://me@db?allowMultiQueries=true", &[], "sets `allowMultiQueries`, which connector `mysql` does not know"),
            ("mysql://me:hunter2@db", &[("password", "hunter22")], "`password` of connector `mysql` is set to different values"),
            ("mysql://me@db", &[("host", "hunter2")], "has no option `host`"),
        ];
        for (text, options, part) in cases {
            let error = parse(text, options).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Configuration, "{text}");
            assert!(error.message.contains(part), "{text}: {}", error.message);
            assert!(!error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
