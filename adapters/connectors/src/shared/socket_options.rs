//! What a connection string and the options say of a socket: its host and port, its TLS, and how
//! many there may be. Those of TLS are
//! [libpq's](https://www.postgresql.org/docs/current/libpq-connect.html).

use std::net::IpAddr;

use millrace_core::{
    Result,
    ports::{Connection, Roots, Verify},
};

use super::{
    is_loopback,
    server_options::{ServerOptions, configuration},
};
use crate::sockets::Sockets;

const LONGEST_TIMEOUT_MS: u64 = 60_000;

/// Whether there is TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    None,
    /// Where the server has it.
    Preferred(Verify),
    Required(Verify),
}

impl Encryption {
    /// Whether TLS says who the server is. The authorities that a host trusts sign for everybody,
    /// so that beside them the name counts.
    pub(crate) fn is_verified(self, roots: &Roots) -> bool {
        match self {
            Self::None | Self::Preferred(Verify::Nothing) | Self::Required(Verify::Nothing) => false,
            Self::Preferred(Verify::Chain) | Self::Required(Verify::Chain) => *roots != Roots::Host,
            Self::Preferred(Verify::Full) | Self::Required(Verify::Full) => true,
        }
    }
}

impl ServerOptions {
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
    /// [`Configuration`](ErrorKind::Configuration) for settings that are wrong or contradict each
    /// other.
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
            // As in libpq, certificates that are named are looked at. A name that is demanded
            // cannot be bound to a channel that nobody verified.
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
