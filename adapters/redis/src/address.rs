//! Where a Redis server is: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`.

use millrace_core::{
    Error, ErrorKind, Result,
    ports::Roots,
    secret::Secret,
    url::{Url, percent_decoded, scheme_and_rest},
};

/// The port where the address names none.
const PORT: u16 = 6379;

/// The version of the protocol that is to be spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// RESP3 where the server has it, else RESP2.
    #[default]
    Newest,
    /// RESP2; nothing is asked.
    Resp2,
    /// RESP3, and nothing else.
    Resp3,
}

impl Version {
    /// Reads what an option or a setting says: `2` or `3`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "2" => Some(Self::Resp2),
            "3" => Some(Self::Resp3),
            _ => None,
        }
    }
}

/// A server, a database of it, and who asks. Prints no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisAddress {
    /// A name, or an IP address without brackets.
    pub host: String,
    /// Where the server listens.
    pub port: u16,
    /// Whether the connection is encrypted, and the server's certificate verified.
    pub tls: bool,
    /// Who may have signed the server's certificate.
    pub roots: Roots,
    /// Who asks; without one, the server's user `default`.
    pub user: Option<String>,
    /// The user's password.
    pub password: Option<Secret<String>>,
    /// The number of the database.
    pub database: u32,
    /// What is to be spoken.
    pub version: Version,
    /// What messages call it.
    place: String,
}

impl RedisAddress {
    /// Reads an address. `rediss://` is with TLS, where `?ca_file=FILE` names a PEM file with the
    /// certificates to trust. `?protocol=2` or `?protocol=3` says which version is spoken.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration): what is wrong, without the text, which holds a
    /// password.
    pub fn parse(text: &str) -> Result<Self> {
        let address = Self::read("the address of a Redis server", text)?;
        address.check_user("the address of a Redis server")?;
        Ok(address)
    }

    /// Reads an address that may have a user without a password, which is found elsewhere.
    /// `subject` is what messages call the text.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn read(subject: &str, text: &str) -> Result<Self> {
        let wrong = |what: &str| wrong(subject, what);
        let tls = match scheme_and_rest(text).map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
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
        let database = match url.path.trim_start_matches('/') {
            "" => 0,
            number => number.parse().map_err(|_| wrong("has a database that is not a number"))?,
        };
        let (mut roots, mut version) = (Roots::Host, Version::Newest);
        for (setting, value) in url.settings {
            match setting.as_str() {
                "ca_file" if tls => roots = Roots::File(value),
                "protocol" => version = Version::parse(&value).ok_or_else(|| wrong("has a `protocol` that is neither 2 nor 3"))?,
                _ => return Err(wrong("has a setting other than `?protocol=` and, with `rediss://`, `?ca_file=`")),
            }
        }
        let port = server.port.unwrap_or(PORT);
        let place = format!("`{}:{port}`", server.written_host);
        Ok(Self { host, port, tls, roots, user, password, database, version, place })
    }

    /// Refuses a user without a password.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn check_user(&self, subject: &str) -> Result<()> {
        if self.user.is_some() && self.password.is_none() { Err(wrong(subject, "has a user without a password")) } else { Ok(()) }
    }

    /// What messages call the server, for the operator alone; holds no secret.
    #[must_use]
    pub fn name(&self) -> String {
        format!("the Redis server {}", self.place)
    }

    /// Where it is, and whom it is asked as, for the log.
    #[must_use]
    pub fn place(&self) -> String {
        self.user.as_ref().map_or_else(|| self.place.clone(), |user| format!("{}, user `{user}`", self.place))
    }
}

fn wrong(subject: &str, what: &str) -> Error {
    Error::new(ErrorKind::Configuration, format!("{subject} {what}; write `redis://USER:PASSWORD@HOST:PORT/DATABASE`"))
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
            roots: Roots::Host,
            user: None,
            password: None,
            database: 0,
            version: Version::Newest,
            place: "`a:6379`".into(),
        };
        let password = |text: &str| Some(Secret::new(text.to_owned()));
        let cases = [
            ("redis://a", plain.clone()),
            ("redis://a/", plain.clone()),
            ("redis://a?protocol=2", RedisAddress { version: Version::Resp2, ..plain.clone() }),
            ("redis://a/0?protocol=3", RedisAddress { version: Version::Resp3, ..plain.clone() }),
            ("rediss://a/3", RedisAddress { tls: true, database: 3, ..plain.clone() }),
            ("redis://:p%40%3a%23%25@a", RedisAddress { password: password("p@:#%"), ..plain.clone() }),
            ("redis://me:p@s%40@a", RedisAddress { user: Some("me".into()), password: password("p@s@"), ..plain.clone() }),
            ("redis://me:pw@a", RedisAddress { user: Some("me".into()), password: password("pw"), ..plain.clone() }),
            ("rediss://a?ca_file=%2Fetc%2Fca.pem", RedisAddress { tls: true, roots: Roots::File("/etc/ca.pem".into()), ..plain.clone() }),
            ("redis://[::1]:7/0", RedisAddress { host: "::1".into(), port: 7, place: "`[::1]:7`".into(), ..plain.clone() }),
            ("redis://127.0.0.1:7", RedisAddress { host: "127.0.0.1".into(), port: 7, place: "`127.0.0.1:7`".into(), ..plain }),
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
            ("redis://:hunter2@a?protocol=hunter2", "has a `protocol` that is neither 2 nor 3"),
            ("redis://:hunter2@a#x", "has a `#`"),
        ];
        for (text, expected) in cases {
            let message = RedisAddress::parse(text).unwrap_err().into_parts().message;
            assert!(message.contains(expected) && !message.contains("hunter2"), "{text}: {message}");
        }
        let address = RedisAddress::parse("redis://me:hunter2@a").unwrap();
        assert!(!format!("{address:?} {}", address.name()).contains("hunter2"));
    }
}
