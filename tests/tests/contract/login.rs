//! TLS, as the connection string says.

use std::fs;

use millrace_core::{
    Error,
    ErrorKind::{Configuration, Denied},
    ports::Query,
    value::Value,
};
use millrace_tests::database::{Database, connection, query};

use crate::certificates::certified;

/// A server with TLS for `localhost` and 127.0.0.1.
pub(crate) struct Login {
    /// The connector, which is also the scheme of its URLs.
    pub(crate) connector: &'static str,
    /// Who logs in, and the database.
    pub(crate) user: &'static str,
    pub(crate) password: &'static str,
    pub(crate) database: &'static str,
    /// Whether the connection has TLS.
    pub(crate) is_secured: &'static str,
}

impl Login {
    /// Whether a connection has TLS.
    pub(crate) fn attempt(&self, url: &str, options: &[(&str, &str)]) -> Result<bool, Error> {
        let database = Database::open(connection(self.connector, url, options));
        let rows = database.run_with(&Query { deadline_ms: 20_000, ..query(self.is_secured) })?.rows;
        Ok(matches!(rows[0][0], Value::Bool(true) | Value::I64(1)))
    }

    /// The same for the user of the table.
    pub(crate) fn secured(&self, host: &str, port: u16, options: &[(&str, &str)]) -> Result<bool, Error> {
        let Self { connector, user, database, .. } = self;
        let options = [&[("password", self.password)], options].concat();
        self.attempt(&format!("{connector}://{user}@{host}:{port}/{database}"), &options)
    }

    /// `start` starts a server with a certificate and its key; `more` are options that work only
    /// where the certificate is trusted.
    pub(crate) fn tls_as_the_connection_string_says<S>(
        &self,
        start: impl FnOnce(&str, &str) -> (S, u16),
        more: &[(&'static str, &'static str)],
        then: impl FnOnce(S, u16, &str),
    ) {
        let [certificate, key, authority] = certified("localhost");
        let [_, _, stranger] = certified("localhost");
        let (server, port) = start(&certificate, &key);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        fs::write(&file, &authority).unwrap();
        let file = file.to_str().unwrap();
        let ca = ("ca_certificate", authority.as_str());
        // On this machine.
        for options in [&[][..], &[("sslmode", "disable")]] {
            assert_eq!(self.secured("127.0.0.1", port, options), Ok(false), "{options:?}");
        }
        let cases: [(&str, &[(&str, &str)]); 6] = [
            ("127.0.0.1", &[("sslmode", "prefer")]),
            ("127.0.0.1", &[("sslmode", "require")]),
            ("127.0.0.1", &[("sslmode", "verify-ca"), ca]),
            ("127.0.0.1", &[("sslmode", "require"), ("sslrootcert", file)]),
            ("localhost", &[("sslmode", "verify-full"), ("sslrootcert", file)]),
            ("localhost", &[ca]),
        ];
        for (host, options) in cases {
            assert_eq!(self.secured(host, port, options), Ok(true), "{host} {options:?}");
        }
        let mut untrusted: Vec<(&str, Vec<(&str, &str)>)> = vec![
            ("127.0.0.1", vec![("sslmode", "verify-full"), ca]),
            ("localhost", vec![("sslmode", "verify-full")]),
            ("localhost", vec![("sslmode", "verify-ca"), ("ca_certificate", &stranger)]),
            ("localhost", vec![("sslmode", "require"), ("ca_certificate", &stranger)]),
        ];
        for option in more {
            assert_eq!(self.secured("localhost", port, &[*option, ca]), Ok(true), "{option:?}");
            untrusted.push(("localhost", vec![("sslmode", "require"), *option]));
        }
        for (host, options) in untrusted {
            let error = self.secured(host, port, &options).unwrap_err();
            assert_eq!(error.kind, Denied, "{options:?}: {error:?}");
            assert!(error.message.starts_with("the certificate of the server is not trusted"), "{error:?}");
            assert!(error.source.as_ref().unwrap().starts_with(&format!("`{host}`: ")), "{error:?}");
        }
        then(server, port, &authority);
    }

    /// A server without TLS; `product` is its name.
    pub(crate) fn a_server_without_tls_is_not_told_the_password(&self, url: &str, product: &str) {
        let error = self.attempt(&format!("{url}?sslmode=verify-full"), &[]).unwrap_err();
        let expected = format!("{product} offers no TLS; where the network between is trusted, set `sslmode=disable`");
        assert_eq!((error.kind, error.message.clone()), (Configuration, expected));
        assert_eq!(self.attempt(&format!("{url}?sslmode=prefer"), &[]), Ok(false));
    }
}
