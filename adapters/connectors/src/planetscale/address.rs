//! Where the API is and what lets us in, from a connection string and the options.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_catalogue::PLANETSCALE;
use millrace_core::{Error, ErrorKind, Result, secret::Secret, url::scheme_and_rest};

use crate::{
    mysql_text::connection_pairs,
    shared::{KnownOptions, ServerOptions, is_loopback},
};

const KNOWN: KnownOptions = KnownOptions {
    connector: "planetscale",
    names: "`password`, `user`",
    // TLS is always there, and always verified in full.
    harmless: &[("charset", &["utf8mb4"]), ("sslmode", &["prefer", "require", "verify-ca", "verify-full"]), ("sslrootcert", &["system"])],
};
const FORM: &str = "use `mysql://user:password@host/database`, as PlanetScale shows it";
/// The hosts of PlanetScale, whose API is beside the database.
const OF_PLANETSCALE: &str = ".psdb.cloud";
/// Where MySQL's own protocol is spoken, at the same host.
const MYSQL_PORT: &str = "3306";
const EXECUTE: &str = "/psdb.v1alpha1.Database/Execute";

/// A database's API.
#[derive(Debug, PartialEq)]
pub(super) struct PlanetscaleAddress {
    /// `https://aws.connect.psdb.cloud/psdb.v1alpha1.Database/Execute`
    pub(super) url: String,
    /// For messages.
    pub(super) host: String,
    /// The header field.
    pub(super) authorization: Secret<String>,
}

impl PlanetscaleAddress {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(text: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let wrong = |what: String| Error::new(ErrorKind::Configuration, format!("the connection string of connector `planetscale` {what}"));
        // What is wrong with the options is said even where the string is wrong.
        ServerOptions::gather(&KNOWN, Vec::new(), options)?;
        let mut settings = ServerOptions::gather(&KNOWN, connection_pairs(text, PLANETSCALE.schemes, FORM).map_err(wrong)?, options)?;
        let scheme = scheme_and_rest(text).map(|(scheme, _)| scheme.to_ascii_lowercase()).unwrap_or_default();
        let host = settings.demand("host")?.to_ascii_lowercase();
        let port = settings.take("port");
        // The user's password belongs to one database: its name is not sent.
        settings.take("dbname");
        let user = settings.demand("user")?;
        let password = settings.demand("password")?;
        let is_plain = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte));
        if !is_plain {
            return Err(wrong("has a host with a character that a host name cannot have".to_owned()));
        }
        if user.contains(':') || [&user, &password].iter().any(|text| text.contains(char::is_control)) {
            return Err(wrong("or an option has a character that a user or a password cannot have".to_owned()));
        }
        let (scheme, port) = match (scheme.as_str(), port) {
            // The API gets the password: nobody guesses where it is.
            ("mysql", _) if !host.ends_with(OF_PLANETSCALE) || host.len() == OF_PLANETSCALE.len() => {
                return Err(wrong(format!("names a host that is not below `psdb.cloud`; {FORM}, or `https://` for the API itself")));
            }
            ("mysql", Some(port)) if port != MYSQL_PORT => return Err(wrong(format!("has a port; {FORM}"))),
            ("mysql", _) => ("https", None),
            ("https", port) => ("https", port),
            ("http", port) if is_loopback(&host) => ("http", port),
            _ => return Err(wrong("must begin with `https://` or `mysql://`: the API gets the password".to_owned())),
        };
        let written = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self {
            url: format!("{scheme}://{written}{port}{EXECUTE}"),
            host,
            authorization: Secret::new(format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Written<'a> = &'a [(&'a str, &'a str)];

    fn parse(text: &str, options: Written<'_>) -> Result<PlanetscaleAddress> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        PlanetscaleAddress::parse(text, &options)
    }

    #[test]
    fn addresses_are_read() {
        let cloud = "https://aws.connect.psdb.cloud/psdb.v1alpha1.Database/Execute";
        let cases: [(&str, Written<'_>, &str, &str); 8] = [
            ("mysql://me:pw@aws.connect.psdb.cloud/shop?sslaccept=strict", &[], cloud, "me:pw"),
            ("mysql://me:pw@AWS.connect.psdb.cloud:3306/shop?ssl={\"rejectUnauthorized\":true}", &[], cloud, "me:pw"),
            ("mysql://me:pw@aws.connect.psdb.cloud/shop?ssl-mode=VERIFY_IDENTITY", &[], cloud, "me:pw"),
            ("https://me:p%40%2F%3A@aws.connect.psdb.cloud", &[], cloud, "me:p@/:"),
            ("https://aws.connect.psdb.cloud/shop", &[("user", "me"), ("password", "pscale_pw_x")], cloud, "me:pscale_pw_x"),
            ("https://me:pw@db.example:8443", &[], "https://db.example:8443/psdb.v1alpha1.Database/Execute", "me:pw"),
            ("http://me:pw@127.0.0.1:3900/shop", &[], "http://127.0.0.1:3900/psdb.v1alpha1.Database/Execute", "me:pw"),
            ("http://me:pw@[::1]:3900", &[], "http://[::1]:3900/psdb.v1alpha1.Database/Execute", "me:pw"),
        ];
        for (text, options, url, login) in cases {
            let address = parse(text, options).unwrap();
            assert_eq!(address.url, url, "{text}");
            assert_eq!(address.authorization.expose(), &format!("Basic {}", STANDARD.encode(login)), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let cases: [(&str, Written<'_>, &str); 17] = [
            ("", &[], "is not a URI; use `mysql://user:password@host/database`"),
            ("hunter2", &[], "is not a URI"),
            ("postgres://me:hunter2@aws.connect.psdb.cloud/x", &[], "is a URI of something else"),
            ("mysql://me:hunter2@db.example/x", &[], "names a host that is not below `psdb.cloud`"),
            ("mysql://me:hunter2@psdb.cloud/x", &[], "names a host that is not below `psdb.cloud`"),
            ("mysql://me:hunter2@evil-psdb.cloud/x", &[], "names a host that is not below `psdb.cloud`"),
            ("mysql://me:hunter2@aws.connect.psdb.cloud:3307/x", &[], "has a port"),
            ("http://me:hunter2@aws.connect.psdb.cloud/x", &[], "must begin with `https://` or `mysql://`"),
            ("http://me:hunter2@127.0.0.1.example/x", &[], "must begin with `https://` or `mysql://`"),
            ("mysql://me@aws.connect.psdb.cloud/x", &[], "names no password"),
            ("mysql://aws.connect.psdb.cloud/x", &[("password", "hunter2")], "names no user"),
            ("https://me:hunter2@a%20b/x", &[], "a character that a host name cannot have"),
            ("https://me%3Ayou:hunter2@db.example", &[], "a character that a user or a password cannot have"),
            ("https://me:hunter2%0d%0a@db.example", &[], "a character that a user or a password cannot have"),
            ("mysql://me:hunter2@aws.connect.psdb.cloud/x?ssl-mode=DISABLED", &[], "does not support `sslmode`"),
            ("mysql://me:hunter2@aws.connect.psdb.cloud/x?sslcert=hunter2", &[], "sets `sslcert`, which connector `planetscale`"),
            ("mysql://me:hunter2@aws.connect.psdb.cloud/x", &[("password", "hunter22")], "is set to different values"),
        ];
        for (text, options, part) in cases {
            let error = parse(text, options).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Configuration, "{text}");
            assert!(error.message.contains(part) && !error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
