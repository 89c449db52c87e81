//! Where the server is and how to talk to it, from a connection string and the options.
//!
//! The strings are [libpq's](https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING): a URI, or `name=value` pairs.
//! What is in both the string and the options is an error, and so is a name that is not known.

mod text;

use std::net::IpAddr;

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Roots, Verify},
    secret::Secret,
};

use super::hyperdrive;

/// What a string or the options may set.
const KNOWN: &str = "`application_name`, `ca_certificate`, `channel_binding`, `connect_timeout`, `max_connections`, `options`, `password`, \
                     `search_path`, `sslmode`, `sslrootcert`, `timezone`, `user`";
/// What a string may set to a value that means what is done anyway; anything else of them is refused.
const HARMLESS: [(&str, &[&str]); 5] = [
    ("gssencmode", &["disable", "prefer"]),
    ("load_balance_hosts", &["disable"]),
    ("pgbouncer", &["true", "false"]),
    ("sslnegotiation", &["postgres"]),
    ("target_session_attrs", &["any"]),
];
const LONGEST_TIMEOUT_MS: u64 = 60_000;

/// A server, and how to talk to it.
#[derive(Debug, PartialEq)]
pub(super) struct PostgresAddress {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) password: Option<Secret<String>>,
    pub(super) encryption: Encryption,
    pub(super) roots: Roots,
    /// The server must prove that it knows the password.
    pub(super) demands_proof: bool,
    /// Nobody can read along, even without TLS: what is sent stays on this machine, or within the platform.
    pub(super) is_private: bool,
    /// What is set for the connection.
    pub(super) settings: Vec<(String, String)>,
    pub(super) connect_timeout_ms: u64,
    pub(super) max_connections: usize,
}

/// Whether there is TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    None,
    /// Where the server has it.
    Preferred(Verify),
    Required(Verify),
}

impl PostgresAddress {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both may hold a secret.
    pub(super) fn parse(written: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        if let Some(binding) = hyperdrive::binding(written) {
            return Err(hyperdrive::refused(binding?));
        }
        let mut settings = ConnectionOptions(
            text::pairs(written).map_err(|why| configuration(format!("the connection string of connector `postgres` {why}")))?,
        );
        for (name, value) in options {
            let known = ["host", "port", "dbname"].iter().all(|reserved| reserved != name) && KNOWN.contains(&format!("`{name}`"));
            if !known {
                return Err(configuration(format!("connector `postgres` has no option `{name}`; it has {KNOWN}")));
            }
            // An empty variable means that there is no such setting.
            if !value.expose().trim().is_empty() {
                settings.0.push((name.clone(), value.expose().trim().to_owned()));
            }
        }
        settings.check()?;
        let host =
            settings.take("host").ok_or_else(|| configuration("the connection string of connector `postgres` names no host".into()))?;
        let port = match settings.take("port") {
            None => 5432,
            Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or_else(|| wrong("port", "a number up to 65535"))?,
        };
        check_host(&host)?;
        let user =
            settings.take("user").ok_or_else(|| configuration("the connection string of connector `postgres` names no user".into()))?;
        let demands_proof = match settings.take("channel_binding").as_deref() {
            None | Some("prefer" | "disable") => false,
            Some("require") => true,
            Some(_) => return Err(wrong("channel_binding", "`disable`, `prefer` or `require`")),
        };
        let (encryption, roots) = settings.encryption(&host, demands_proof)?;
        Ok(Self {
            database: settings.take("dbname").unwrap_or_else(|| user.clone()),
            password: settings.take("password").map(Secret::new),
            connect_timeout_ms: settings.connect_timeout_ms()?,
            max_connections: settings.max_connections()?,
            settings: settings.of_the_connection(),
            port,
            user,
            encryption,
            roots,
            demands_proof,
            is_private: is_loopback(&host),
            host,
        })
    }
}

/// Names and values, each name once.
struct ConnectionOptions(Vec<(String, String)>);

impl ConnectionOptions {
    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// Refuses what is unknown, and what is set twice.
    fn check(&mut self) -> Result<()> {
        for (at, (name, value)) in self.0.iter().enumerate() {
            let harmless = HARMLESS.iter().find(|(known, _)| known == name);
            if harmless.is_some_and(|(_, values)| !values.contains(&value.as_str())) {
                return Err(configuration(format!("connector `postgres` does not support `{name}`; remove it")));
            }
            let known = harmless.is_some() || ["host", "port", "dbname"].contains(&name.as_str()) || KNOWN.contains(&format!("`{name}`"));
            if !known {
                let message = format!("the connection string sets `{name}`, which connector `postgres` does not know; it knows {KNOWN}");
                return Err(configuration(message));
            }
            if self.0.iter().skip(at + 1).any(|(other, _)| other == name) {
                return Err(configuration(format!("`{name}` of connector `postgres` is set more than once; keep one of them")));
            }
        }
        self.0.retain(|(name, _)| HARMLESS.iter().all(|(known, _)| known != name));
        Ok(())
    }

    fn encryption(&mut self, host: &str, demands_proof: bool) -> Result<(Encryption, Roots)> {
        let mode = self.take("sslmode");
        let file = self.take("sslrootcert");
        let pem = self.take("ca_certificate");
        let roots = match (file.as_deref(), pem) {
            (Some(_), Some(_)) => {
                return Err(configuration("connector `postgres` takes `sslrootcert` or `ca_certificate`, not both".into()));
            }
            (None, None) | (Some("system"), None) => Roots::Host,
            (Some(file), None) => Roots::File(file.to_owned()),
            (None, Some(pem)) => Roots::Pem(pem),
        };
        let own_roots = file.is_some() || matches!(roots, Roots::Pem(_));
        let encryption = match mode.as_deref() {
            Some("disable") if demands_proof || own_roots => {
                return Err(configuration("`sslmode=disable` of connector `postgres` contradicts the other TLS settings".into()));
            }
            Some("disable") => Encryption::None,
            Some("prefer") if !own_roots && !demands_proof => Encryption::Preferred(Verify::Nothing),
            // As in libpq, certificates that are named are looked at. A name that is demanded cannot be bound to a channel that nobody
            // verified.
            Some("prefer" | "require") if demands_proof => Encryption::Required(Verify::Full),
            Some("prefer" | "require") if own_roots => Encryption::Required(Verify::Chain),
            Some("require") => Encryption::Required(Verify::Nothing),
            Some("verify-ca") => Encryption::Required(Verify::Chain),
            Some("verify-full") => Encryption::Required(Verify::Full),
            Some(_) => return Err(wrong("sslmode", "`disable`, `prefer`, `require`, `verify-ca` or `verify-full`")),
            None if is_loopback(host) && !own_roots && !demands_proof => Encryption::None,
            None => Encryption::Required(Verify::Full),
        };
        Ok((encryption, roots))
    }

    fn connect_timeout_ms(&mut self) -> Result<u64> {
        let Some(text) = self.take("connect_timeout") else { return Ok(5_000) };
        let (digits, factor) = match text.strip_suffix("ms") {
            Some(digits) => (digits, 1),
            None => (text.strip_suffix('s').unwrap_or(&text), 1_000),
        };
        let ms = digits.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
        ms.filter(|ms| (1..=LONGEST_TIMEOUT_MS).contains(ms))
            .ok_or_else(|| wrong("connect_timeout", "seconds, or a time such as `500ms`, up to 60 seconds"))
    }

    fn max_connections(&mut self) -> Result<usize> {
        let Some(text) = self.take("max_connections") else { return Ok(4) };
        text.parse().ok().filter(|most| (1..=1000).contains(most)).ok_or_else(|| wrong("max_connections", "a whole number from 1 to 1000"))
    }

    /// What is left is for the server. Dates and times are read as UTC has them, unless another zone is asked for.
    fn of_the_connection(mut self) -> Vec<(String, String)> {
        let zone = self.take("timezone").unwrap_or_else(|| "UTC".into());
        let name = self.take("application_name").unwrap_or_else(|| "millrace".into());
        let mut settings = vec![("application_name".to_owned(), name), ("TimeZone".to_owned(), zone)];
        settings.append(&mut self.0);
        settings
    }
}

fn check_host(host: &str) -> Result<()> {
    let why = if host.starts_with('/') || host.starts_with('@') {
        "names a socket of the file system; name a host"
    } else if host.contains(',') {
        "names several hosts; name one"
    } else if host.parse::<IpAddr>().is_err() && !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)) {
        "has a host with a character that a host name cannot have"
    } else {
        return Ok(());
    };
    Err(configuration(format!("the connection string of connector `postgres` {why}")))
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn wrong(name: &str, form: &str) -> Error {
    configuration(format!("`{name}` of connector `postgres` must be {form}"))
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests;
