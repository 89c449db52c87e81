//! Where the server is and how to talk to it, from a connection string and the options.
//!
//! The strings are
//! [libpq's](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING): a URI,
//! or `name=value` pairs. What the string and the options set to different values is an error, and
//! so is a name that is not known.

mod text;

use millrace_core::{Error, ErrorKind, Result, ports::Roots, secret::Secret};

use crate::{
    hyperdrive::refuse_binding,
    shared::{Encryption, KnownOptions, ServerOptions, is_loopback},
};

const KNOWN: KnownOptions = KnownOptions {
    connector: "postgres",
    names: "`application_name`, `aws_iam`, `ca_certificate`, `channel_binding`, `connect_timeout`, `max_connections`, `options`, \
            `password`, `search_path`, `sslmode`, `sslrootcert`, `timezone`, `user`",
    harmless: &[
        ("gssencmode", &["disable", "prefer"]),
        ("load_balance_hosts", &["disable"]),
        ("sslnegotiation", &["postgres"]),
        ("target_session_attrs", &["any"]),
    ],
};

/// A server, and how to talk to it.
#[derive(Debug, PartialEq)]
pub(crate) struct PostgresAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) password: Option<Secret<String>>,
    /// The password is a token of AWS IAM, made for each login.
    pub(crate) aws_iam: bool,
    pub(crate) encryption: Encryption,
    pub(crate) roots: Roots,
    /// The server must prove that it knows the password.
    pub(crate) demands_proof: bool,
    /// Nobody can read along, even without TLS: what is sent stays on this machine, or within the
    /// platform.
    pub(crate) is_private: bool,
    /// What is set for the connection.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) connect_timeout_ms: u64,
    pub(crate) max_connections: usize,
}

impl PostgresAddress {
    /// Where it is, and whom it is asked as, for the log.
    pub(crate) fn place(&self) -> String {
        format!("`{}:{}`, user `{}`", self.host, self.port, self.user)
    }

    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(crate) fn parse(written: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        refuse_binding(written)?;
        let pairs = text::pairs(written).map_err(|why| configuration(format!("the connection string of connector `postgres` {why}")))?;
        let mut settings = ServerOptions::gather(&KNOWN, pairs, options)?;
        let host = settings.demand("host")?;
        let port = settings.port(5432)?;
        settings.check_host(&host)?;
        let user = settings.demand("user")?;
        let demands_proof = match settings.take("channel_binding").as_deref() {
            None | Some("prefer" | "disable") => false,
            Some("require") => true,
            Some(_) => return Err(settings.wrong("channel_binding", "`disable`, `prefer` or `require`")),
        };
        let aws_iam = match settings.take("aws_iam").map(|text| text.to_ascii_lowercase()).as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(settings.wrong("aws_iam", "`true` or `false`")),
        };
        let (encryption, roots) = settings.encryption(&host, demands_proof)?;
        Ok(Self {
            database: settings.take("dbname").unwrap_or_else(|| user.clone()),
            password: settings.take("password").map(Secret::new),
            connect_timeout_ms: settings.connect_timeout_ms()?,
            max_connections: settings.max_connections()?,
            settings: of_the_connection(settings),
            port,
            aws_iam,
            user,
            encryption,
            roots,
            demands_proof,
            is_private: is_loopback(&host),
            host,
        })
    }
}

/// What is left is for the server. Dates and times are read as UTC has them, unless another zone is
/// asked for.
fn of_the_connection(mut options: ServerOptions) -> Vec<(String, String)> {
    let zone = options.take("timezone").unwrap_or_else(|| "UTC".into());
    let name = options.take("application_name").unwrap_or_else(|| "millrace".into());
    let mut settings = vec![("application_name".to_owned(), name), ("TimeZone".to_owned(), zone)];
    settings.append(&mut options.rest());
    settings
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests;
