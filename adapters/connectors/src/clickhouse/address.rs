//! Where the HTTP interface is and what lets us in, from a connection string and the options.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Error, ErrorKind, Result,
    secret::Secret,
    url::{Url, percent_coded as coded, percent_decoded},
};

use crate::shared::{KnownOptions, ServerOptions, is_loopback};

const KNOWN: KnownOptions = KnownOptions { connector: "clickhouse", names: "`database`, `password`, `user`", harmless: &[] };

/// The ports of ClickHouse's own protocol, and of what it speaks besides.
const OF_OTHERS: [u16; 6] = [9000, 9004, 9005, 9009, 9010, 9440];
const TLS_PORT: u16 = 8443;
const PLAIN_PORT: u16 = 8123;

/// A server's URL and the fields that let us in.
#[derive(Debug, PartialEq)]
pub(super) struct ClickHouseAddress {
    /// `https://host:8443/?database=shop&`
    pub(super) url: String,
    /// For messages.
    pub(super) host: String,
    /// Header fields.
    pub(super) login: Vec<(&'static str, Secret<String>)>,
}

impl ClickHouseAddress {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(text: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let wrong = |what: &str| {
            configuration(format!("the connection string of connector `clickhouse` {what}; use `https://user:password@host:8443/database`"))
        };
        // What is wrong with the options is said even where the string is wrong.
        ServerOptions::gather(&KNOWN, Vec::new(), options)?;
        let url = Url::parse_with_user(text).map_err(wrong)?;
        let is_near = is_loopback(url.server.host);
        let (scheme, port) = match url.scheme.as_str() {
            "https" => ("https", None),
            "http" if is_near => ("http", None),
            "http" => return Err(wrong("begins with `http://`, which would send the password and the data without TLS")),
            "clickhouse" if is_near => ("http", Some(PLAIN_PORT)),
            "clickhouse" | "clickhouses" => ("https", Some(TLS_PORT)),
            "tcp" | "grpc" => return Err(wrong("is for another protocol of ClickHouse, and the connector speaks HTTP")),
            _ => return Err(wrong("is of another scheme")),
        };
        if url.server.port.is_some_and(|port| OF_OTHERS.contains(&port)) {
            return Err(wrong("has the port of another protocol of ClickHouse; its HTTP interface is at 8443, or at 8123 without TLS"));
        }
        let mut pairs = url.settings;
        let path = url.path.strip_prefix('/');
        if path.is_some_and(|path| path.contains('/')) {
            return Err(wrong("has more than a database in its path"));
        }
        for (name, coded) in [("user", url.server.user), ("password", url.server.password), ("database", path)] {
            let value = percent_decoded(coded.unwrap_or_default()).ok_or_else(|| wrong("has percent-encoding that is not UTF-8"))?;
            if !value.is_empty() {
                pairs.push((name.to_owned(), value));
            }
        }
        let mut settings = ServerOptions::gather(&KNOWN, pairs, options)?;
        let (user, password) = (settings.take("user"), settings.take("password"));
        let database = settings.take("database").map_or_else(String::new, |name| format!("database={}&", coded(&name)));
        let authority = match port.filter(|_| url.server.port.is_none()) {
            Some(port) => format!("{}:{port}", url.authority),
            None => url.authority.to_owned(),
        };
        Ok(Self { url: format!("{scheme}://{authority}/?{database}"), host: url.server.host.to_owned(), login: login(user, password)? })
    }
}

/// The fields of a user and a password; without both, those of the server's user `default` without
/// one.
fn login(user: Option<String>, password: Option<String>) -> Result<Vec<(&'static str, Secret<String>)>> {
    let is_plain = |text: &Option<String>| text.as_ref().is_none_or(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
    // A password alone is that of `default`: a server takes a field of a key without one of a user
    // for a user without a name.
    let user = user.or_else(|| password.is_some().then(|| "default".to_owned()));
    if is_plain(&user) && is_plain(&password) {
        let fields = [("x-clickhouse-user", user), ("x-clickhouse-key", password)];
        return Ok(fields.into_iter().filter_map(|(name, value)| Some((name, Secret::new(value?)))).collect());
    }
    // A field has no other characters.
    let user = user.unwrap_or_else(|| "default".to_owned());
    if user.contains(':') {
        return Err(configuration(
            "the `user` of connector `clickhouse` must not have a `:` beside characters that are not ASCII".to_owned(),
        ));
    }
    let both = STANDARD.encode(format!("{user}:{}", password.unwrap_or_default()));
    Ok(vec![("authorization", Secret::new(format!("Basic {both}")))])
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, options: &[(&str, &str)]) -> Result<ClickHouseAddress> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        ClickHouseAddress::parse(text, &options)
    }

    #[test]
    fn addresses_are_read() {
        let (user, key) = ("x-clickhouse-user", "x-clickhouse-key");
        for (text, options, url, login) in [
            ("https://a.clickhouse.cloud:8443", &[][..], "https://a.clickhouse.cloud:8443/?", &[][..]),
            ("clickhouse://me:p%40w@db/shop", &[], "https://db:8443/?database=shop&", &[(user, "me"), (key, "p@w")]),
            ("CLICKHOUSES://db:1/", &[("user", "me")], "https://db:1/?", &[(user, "me")]),
            (
                "clickhouse://127.0.0.1/a%20b%26c",
                &[("password", "pw")],
                "http://127.0.0.1:8123/?database=a%20b%26c&",
                &[(user, "default"), (key, "pw")],
            ),
            ("http://[::1]:8123/?database=x&user=u", &[], "http://[::1]:8123/?database=x&", &[(user, "u")]),
            ("https://db/", &[("user", "me"), ("password", "é x")], "https://db/?", &[("authorization", "Basic bWU6w6kgeA==")]),
            ("https://db/", &[("password", "a b")], "https://db/?", &[("authorization", "Basic ZGVmYXVsdDphIGI=")]),
        ] {
            let address = parse(text, options).unwrap_or_else(|error| panic!("{text}: {error}"));
            let found: Vec<_> = address.login.iter().map(|(name, value)| (*name, value.expose().as_str())).collect();
            assert_eq!((address.url.as_str(), found.as_slice()), (url, login), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let good = "https://me:hunter2@db";
        for (text, options, expected) in [
            ("hunter2", &[][..], "is not a URL; use `https://user:password@host:8443/database`"),
            ("http://me:hunter2@db:8123", &[], "without TLS"),
            ("http://me:hunter2@127.0.0.1.example.com", &[], "without TLS"),
            ("tcp://me:hunter2@db", &[], "is for another protocol of ClickHouse"),
            ("clickhouse://me:hunter2@db:9440", &[], "has the port of another protocol of ClickHouse"),
            ("ftp://me:hunter2@db", &[], "is of another scheme"),
            ("https://me:hunter2@db/a/b", &[], "has more than a database in its path"),
            ("https://me:hunter2@db/%ff", &[], "percent-encoding that is not UTF-8"),
            ("https://me:hunter2@db/?compress=1", &[], "sets `compress`, which connector `clickhouse` does not know"),
            (good, &[("password", "hunter22")], "`password` of connector `clickhouse` is set to different values"),
            (good, &[("host", "hunter2")], "has no option `host`"),
            ("https://db", &[("user", "a:é"), ("password", "hunter2")], "must not have a `:`"),
        ] {
            let error = parse(text, options).unwrap_err();
            assert!(error.message.contains(expected) && !error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
