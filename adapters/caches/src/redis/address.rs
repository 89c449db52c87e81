//! Where a Redis server is: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`.

use millrace_core::{
    Error, ErrorKind, Result,
    secret::Secret,
    url::{Url, percent_decoded},
};

/// The port where the address names none.
const PORT: u16 = 6379;

/// A server, a database of it, and who asks. Prints no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisAddress {
    /// A name, or an IP address without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: bool,
    /// Who may have signed the server's certificate; without it, whom the host trusts.
    pub(super) ca_file: Option<String>,
    pub(super) user: Option<String>,
    pub(super) password: Option<Secret<String>>,
    pub(super) database: u32,
    /// What messages call it.
    pub(super) name: String,
}

impl RedisAddress {
    /// Reads an address. `rediss://` is with TLS, where `?ca_file=FILE` names a PEM file with the certificates to trust.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): what is wrong, without the text, which holds a password.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::new(
                ErrorKind::Configuration,
                format!("the address of a Redis server {what}; write `redis://USER:PASSWORD@HOST:PORT/DATABASE`"),
            )
        };
        let tls = match text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
            Some("redis") => false,
            Some("rediss") => true,
            _ => return Err(wrong("begins with neither `redis://` nor `rediss://`")),
        };
        if text.contains('#') {
            return Err(wrong("has a `#`, which in a password is `%23`"));
        }
        let url = Url::parse_with_user(text).map_err(wrong)?;
        let server = url.server;
        let host = server.host.to_owned();
        let decoded = |text: &str| percent_decoded(text).ok_or_else(|| wrong("has percent-encoding that is not UTF-8"));
        let user = server.user.map(decoded).transpose()?.filter(|user| !user.is_empty());
        let password = server.password.map(decoded).transpose()?.filter(|password| !password.is_empty()).map(Secret::new);
        if user.is_some() && password.is_none() {
            return Err(wrong("has a user without a password"));
        }
        let database = match url.path.trim_start_matches('/') {
            "" => 0,
            number => number.parse().map_err(|_| wrong("has a database that is not a number"))?,
        };
        let mut ca_file = None;
        for (setting, value) in url.settings {
            match setting.as_str() {
                "ca_file" if tls => ca_file = Some(value),
                _ => return Err(wrong("has a setting other than `?ca_file=`, which goes with `rediss://`")),
            }
        }
        let port = server.port.unwrap_or(PORT);
        let name = format!("the Redis server `{}:{port}`", server.written_host);
        Ok(Self { host, port, tls, ca_file, user, password, database, name })
    }

    /// What messages call the server; holds no secret.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let plain = RedisAddress {
            host: "a".into(),
            port: PORT,
            tls: false,
            ca_file: None,
            user: None,
            password: None,
            database: 0,
            name: "the Redis server `a:6379`".into(),
        };
        let password = |text: &str| Some(Secret::new(text.to_owned()));
        let cases = [
            ("redis://a", plain.clone()),
            ("redis://a/", plain.clone()),
            ("rediss://a/3", RedisAddress { tls: true, database: 3, ..plain.clone() }),
            ("redis://:p%40%3a%23%25@a", RedisAddress { password: password("p@:#%"), ..plain.clone() }),
            ("redis://me:p@s%40@a", RedisAddress { user: Some("me".into()), password: password("p@s@"), ..plain.clone() }),
            ("redis://me:pw@a", RedisAddress { user: Some("me".into()), password: password("pw"), ..plain.clone() }),
            ("rediss://a?ca_file=%2Fetc%2Fca.pem", RedisAddress { tls: true, ca_file: Some("/etc/ca.pem".into()), ..plain.clone() }),
            ("redis://[::1]:7/0", RedisAddress { host: "::1".into(), port: 7, name: "the Redis server `[::1]:7`".into(), ..plain.clone() }),
            (
                "redis://127.0.0.1:7",
                RedisAddress { host: "127.0.0.1".into(), port: 7, name: "the Redis server `127.0.0.1:7`".into(), ..plain },
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(RedisAddress::parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_the_password_is_not_shown() {
        let cases = [
            ("redis:", "begins with neither"),
            ("redis://[::1]hunter2:6379", "has a wrong port"),
            ("redis://:hunter2@a:0", "has a wrong port"),
            ("redis://:hunter2@a:", "has a wrong port"),
            ("redis://:hunter2@", "names no host"),
            ("redis://:hunter2 x@a", "contains a space"),
            ("redis:///0", "names no host"),
            ("redis+unix:///run/hunter2", "begins with neither"),
            ("redis://:hunter2@a:port", "has a wrong port"),
            ("redis://:hunter2@a:65536", "has a wrong port"),
            ("redis://hunter2@a", "has a user without a password"),
            ("redis://:hunter2@a/x", "has a database that is not a number"),
            ("redis://:hunter2@a/-1", "has a database that is not a number"),
            ("redis://:hunter2%ff@a", "has percent-encoding that is not UTF-8"),
            ("redis://:hunter2@a?db=1", "has a setting other than"),
            ("redis://:hunter2@a?ca_file=x", "has a setting other than"),
            ("redis://:hunter2@a#x", "has a `#`"),
        ];
        for (text, expected) in cases {
            let message = RedisAddress::parse(text).unwrap_err().message;
            assert!(message.contains(expected) && !message.contains("hunter2"), "{text}: {message}");
        }
        let address = RedisAddress::parse("redis://me:hunter2@a").unwrap();
        assert!(!format!("{address:?} {}", address.name()).contains("hunter2"));
    }
}
