//! Names and values of a connection string and of an adapter's options, as far as connectors of servers have them in common. Those of TLS
//! are [libpq's](https://www.postgresql.org/docs/current/libpq-connect.html).
//!
//! No message shows the string or a value: both may hold a secret.

use std::net::IpAddr;

use millrace_core::{
    Error, ErrorKind, Result,
    ports::{Connection, Roots, Verify},
    secret::Secret,
};

use crate::sockets::Sockets;

const LONGEST_TIMEOUT_MS: u64 = 60_000;
/// What only a connection string has.
const OF_THE_STRING: [&str; 3] = ["host", "port", "dbname"];

/// Whether there is TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    None,
    /// Where the server has it.
    Preferred(Verify),
    Required(Verify),
}

impl Encryption {
    /// Whether TLS says who the server is. The authorities that a host trusts sign for everybody, so that beside them the name counts.
    pub(crate) fn is_verified(self, roots: &Roots) -> bool {
        match self {
            Self::None | Self::Preferred(Verify::Nothing) | Self::Required(Verify::Nothing) => false,
            Self::Preferred(Verify::Chain) | Self::Required(Verify::Chain) => *roots != Roots::Host,
            Self::Preferred(Verify::Full) | Self::Required(Verify::Full) => true,
        }
    }
}

/// What a connector knows.
pub(crate) struct KnownOptions {
    /// Its name.
    pub(crate) connector: &'static str,
    /// What a string or the options may set, each in backticks, between commas.
    pub(crate) names: &'static str,
    /// What a string may set to a value that means what is done anyway; anything else of them is refused.
    pub(crate) harmless: &'static [(&'static str, &'static [&'static str])],
}

/// Names and values, each name once.
pub(crate) struct ServerOptions {
    known: &'static KnownOptions,
    pairs: Vec<(String, String)>,
}

impl ServerOptions {
    /// Puts together what a connection string and the options say.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is unknown or set twice.
    pub(crate) fn gather(known: &'static KnownOptions, pairs: Vec<(String, String)>, options: &[(String, Secret<String>)]) -> Result<Self> {
        let mut gathered = Self { known, pairs };
        let KnownOptions { connector, names, .. } = known;
        for (name, value) in options {
            if OF_THE_STRING.contains(&name.as_str()) || !gathered.knows(name) {
                return Err(configuration(format!("connector `{connector}` has no option `{name}`; it has {names}")));
            }
            // An empty variable means that there is no such setting.
            if !value.expose().trim().is_empty() {
                gathered.pairs.push((name.clone(), value.expose().trim().to_owned()));
            }
        }
        gathered.check()?;
        Ok(gathered)
    }

    fn knows(&self, name: &str) -> bool {
        self.known.names.contains(&format!("`{name}`"))
    }

    /// Refuses what is unknown, and what is set twice.
    fn check(&mut self) -> Result<()> {
        let KnownOptions { connector, names, harmless: all_harmless } = self.known;
        for (at, (name, value)) in self.pairs.iter().enumerate() {
            let harmless = all_harmless.iter().find(|(known, _)| known == name);
            if harmless.is_some_and(|(_, values)| !values.contains(&value.as_str())) {
                return Err(configuration(format!("connector `{connector}` does not support `{name}`; remove it")));
            }
            if harmless.is_none() && !OF_THE_STRING.contains(&name.as_str()) && !self.knows(name) {
                let message = format!("the connection string sets `{name}`, which connector `{connector}` does not know; it knows {names}");
                return Err(configuration(message));
            }
            if self.pairs.iter().skip(at + 1).any(|(other, _)| other == name) {
                return Err(configuration(format!("`{name}` of connector `{connector}` is set more than once; keep one of them")));
            }
        }
        self.pairs.retain(|(name, _)| all_harmless.iter().all(|(known, _)| known != name));
        Ok(())
    }

    /// Takes a value out.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| known == name)?;
        Some(self.pairs.remove(at).1)
    }

    /// What nobody has taken.
    pub(crate) fn rest(self) -> Vec<(String, String)> {
        self.pairs
    }

    /// Takes what there must be.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) where it is missing.
    pub(crate) fn demand(&mut self, name: &str) -> Result<String> {
        let connector = self.known.connector;
        self.take(name).ok_or_else(|| configuration(format!("the connection string of connector `{connector}` names no {name}")))
    }

    /// Takes the port.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is none.
    pub(crate) fn port(&mut self, default: u16) -> Result<u16> {
        let Some(port) = self.take("port") else { return Ok(default) };
        port.parse().ok().filter(|port| *port > 0).ok_or_else(|| self.wrong("port", "a number up to 65535"))
    }

    /// Takes what is said of TLS. `demands_proof`: the channel must be bound to the server.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for settings that are wrong or contradict each other.
    pub(crate) fn encryption(&mut self, host: &str, demands_proof: bool) -> Result<(Encryption, Roots)> {
        let connector = self.known.connector;
        let mode = self.take("sslmode");
        let file = self.take("sslrootcert");
        let pem = self.take("ca_certificate");
        let roots = match (file.as_deref(), pem) {
            (Some(_), Some(_)) => {
                return Err(configuration(format!("connector `{connector}` takes `sslrootcert` or `ca_certificate`, not both")));
            }
            (None, None) | (Some("system"), None) => Roots::Host,
            (Some(file), None) => Roots::File(file.to_owned()),
            (None, Some(pem)) => Roots::Pem(pem),
        };
        let own_roots = file.is_some() || matches!(roots, Roots::Pem(_));
        let encryption = match mode.as_deref() {
            Some("disable") if demands_proof || own_roots => {
                return Err(configuration(format!("`sslmode=disable` of connector `{connector}` contradicts the other TLS settings")));
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
            Some(_) => return Err(self.wrong("sslmode", "`disable`, `prefer`, `require`, `verify-ca` or `verify-full`")),
            None if is_loopback(host) && !own_roots && !demands_proof => Encryption::None,
            None => Encryption::Required(Verify::Full),
        };
        Ok((encryption, roots))
    }

    /// Takes how long connecting may take.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is no time, or too long a one.
    pub(crate) fn connect_timeout_ms(&mut self) -> Result<u64> {
        let Some(text) = self.take("connect_timeout") else { return Ok(5_000) };
        let (digits, factor) = match text.strip_suffix("ms") {
            Some(digits) => (digits, 1),
            None => (text.strip_suffix('s').unwrap_or(&text), 1_000),
        };
        let ms = digits.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
        ms.filter(|ms| (1..=LONGEST_TIMEOUT_MS).contains(ms))
            .ok_or_else(|| self.wrong("connect_timeout", "seconds, or a time such as `500ms`, up to 60 seconds"))
    }

    /// Takes how many connections there may be.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration) for what is no number, or too large a one.
    pub(crate) fn max_connections(&mut self) -> Result<usize> {
        let Some(text) = self.take("max_connections") else { return Ok(4) };
        let most = text.parse().ok().filter(|most| (1..=1000).contains(most));
        most.ok_or_else(|| self.wrong("max_connections", "a whole number from 1 to 1000"))
    }

    /// Refuses a value.
    pub(crate) fn wrong(&self, name: &str, form: &str) -> Error {
        configuration(format!("`{name}` of connector `{}` must be {form}", self.known.connector))
    }

    /// Refuses what is no host.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration).
    pub(crate) fn check_host(&self, host: &str) -> Result<()> {
        let why = if host.starts_with('/') || host.starts_with('@') {
            "names a socket of the file system; name a host"
        } else if host.contains(',') {
            "names several hosts; name one"
        } else if host.parse::<IpAddr>().is_err() && !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)) {
            "has a host with a character that a host name cannot have"
        } else {
            return Ok(());
        };
        Err(configuration(format!("the connection string of connector `{}` {why}", self.known.connector)))
    }
}

/// Whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses an adapter that names certificates to trust where the host trusts its own list only.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration).
pub(crate) fn check_roots(connection: &Connection, sockets: &Sockets, roots: &Roots) -> Result<()> {
    if sockets.own_roots || *roots == Roots::Host {
        return Ok(());
    }
    let has_hyperdrives = millrace_catalogue::find(&connection.connector).is_some_and(|row| row.binding.is_some());
    let or = if has_hyperdrives { ", or give them to a Hyperdrive and connect through it" } else { "" };
    Err(configuration(format!(
        "the adapter `{}` brings root certificates, and a Worker trusts only what the platform trusts; remove `ca_certificate` and \
         `sslrootcert`{or}",
        connection.adapter
    )))
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}
