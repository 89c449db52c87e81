//! Where the server is and what lets us in, from a connection string and the options.

use millrace_core::{Error, ErrorKind, Result, secret::Secret, url::Url};

const KNOWN: &str = "`auth_token` (or `authToken` or `jwt`), `tls`";
const FORMS: &str = "use `libsql://host`, `https://host` or `http://host:port`";

/// A server's base URL and the token for it.
#[derive(Debug, PartialEq)]
pub(super) struct LibsqlAddress {
    /// `https://host[:port][/path]`, without a slash at its end, a query or credentials.
    pub(super) base: String,
    pub(super) token: Option<Secret<String>>,
}

impl LibsqlAddress {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(text: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        let scheme = scheme.to_ascii_lowercase();
        let url = match scheme.as_str() {
            "libsql" | "https" | "http" => {
                Url::parse(text).map_err(|why| configuration(format!("the connection string of connector `libsql` {why}; {FORMS}")))?
            }
            "ws" | "wss" => {
                return Err(configuration(format!(
                    "connector `libsql` speaks HTTP, and the connection string is a `{scheme}:` URL; write `http` for `ws`"
                )));
            }
            "file" | "sqlite" => {
                return Err(configuration(format!(
                    "connector `libsql` reaches servers, and the connection string is a `{scheme}:` URL; use connector `sqlite` for a file"
                )));
            }
            _ if rest.starts_with("//") => {
                return Err(configuration(format!("connector `libsql` does not support `{scheme}:` URLs; {FORMS}")));
            }
            _ => return Err(configuration(format!("the connection string of connector `libsql` is not a URL; {FORMS}"))),
        };
        let mut tls = Setting::default();
        let mut token = Setting::default();
        for (name, value) in &url.settings {
            match name.as_str() {
                "tls" => tls.set("tls", value)?,
                "authToken" | "auth_token" | "jwt" => token.set("authToken", value)?,
                _ => {
                    let message =
                        format!("the connection string sets `{name}`, which connector `libsql` does not know; it knows `tls`, `authToken`");
                    return Err(configuration(message));
                }
            }
        }
        for (name, value) in options {
            match name.as_str() {
                "tls" => tls.set("tls", value.expose().trim())?,
                "authToken" | "auth_token" | "jwt" => token.set("auth_token", value.expose().trim())?,
                _ => return Err(configuration(format!("connector `libsql` has no option `{name}`; it has {KNOWN}"))),
            }
        }
        let scheme = secured(&url, tls.0.as_deref())?;
        // An empty variable means that there is no token.
        let token = token.0.filter(|token| !token.is_empty());
        if token.as_deref().is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(configuration("the `auth_token` of connector `libsql` contains a character that a token cannot have".to_owned()));
        }
        Ok(Self { base: format!("{scheme}://{}{}", url.authority, url.path), token: token.map(Secret::new) })
    }
}

/// What may be set to one value.
#[derive(Default)]
struct Setting(Option<String>);

impl Setting {
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match self.0.replace(value.to_owned()) {
            Some(other) if other != value => {
                Err(configuration(format!("`{name}` of connector `libsql` is set to different values; keep one of them")))
            }
            _ => Ok(()),
        }
    }
}

fn secured(url: &Url<'_>, tls: Option<&str>) -> Result<&'static str> {
    let tls = match tls {
        None => None,
        Some("1" | "true") => Some(true),
        Some("0" | "false") => Some(false),
        Some(_) => return Err(configuration("`tls` of connector `libsql` must be `0` or `1`".to_owned())),
    };
    match (url.scheme.as_str(), tls) {
        ("https", Some(false)) | ("http", Some(true)) => {
            Err(configuration(format!("`tls` of connector `libsql` contradicts `{}:`; remove it", url.scheme)))
        }
        ("libsql", Some(false)) if url.server.port.is_none() => {
            Err(configuration("`tls=0` of connector `libsql` needs a port; write `libsql://host:port?tls=0`".to_owned()))
        }
        ("http", _) | (_, Some(false)) => Ok("http"),
        _ => Ok("https"),
    }
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Written<'a> = &'a [(&'a str, &'a str)];

    fn parse(text: &str, options: &[(&str, &str)]) -> Result<LibsqlAddress> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        LibsqlAddress::parse(text, &options)
    }

    #[test]
    fn every_form_is_read() {
        let cases: [(&str, Written<'_>, &str, Option<&str>); 12] = [
            ("libsql://shop-me.turso.io", &[], "https://shop-me.turso.io", None),
            ("LIBSQL://shop:8443/ns/", &[], "https://shop:8443/ns", None),
            ("libsql://shop?tls=1", &[], "https://shop", None),
            ("libsql://127.0.0.1:8080?tls=0", &[], "http://127.0.0.1:8080", None),
            ("libsql://127.0.0.1:8080", &[("tls", "false")], "http://127.0.0.1:8080", None),
            ("http://[::1]:8080", &[], "http://[::1]:8080", None),
            ("https://shop.example.com/?authToken=a.b-c_d%3D", &[], "https://shop.example.com", Some("a.b-c_d=")),
            ("https://shop?tls=true", &[("auth_token", " a.b ")], "https://shop", Some("a.b")),
            ("http://shop", &[("authToken", "a")], "http://shop", Some("a")),
            ("http://shop", &[("jwt", "a")], "http://shop", Some("a")),
            ("http://shop", &[("auth_token", "")], "http://shop", None),
            ("http://shop?authToken=", &[], "http://shop", None),
        ];
        for (text, options, base, token) in cases {
            let expected = LibsqlAddress { base: base.into(), token: token.map(|token| Secret::new(token.to_owned())) };
            assert_eq!(parse(text, options).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let cases: [(&str, Written<'_>, &str); 20] = [
            ("", &[], "is not a URL; use `libsql://host`"),
            ("hunter2", &[], "is not a URL"),
            ("libsql://", &[], "names no host"),
            ("libsql:hunter2", &[], "is not a URL"),
            ("https://me:hunter2@shop", &[], "has a user name"),
            ("https://shop#hunter2", &[], "has a `#`"),
            ("wss://hunter2", &[], "`wss:` URL; write `http` for `ws`"),
            ("file:hunter2.db", &[], "`file:` URL; use connector `sqlite`"),
            ("postgres://me:hunter2@db", &[], "does not support `postgres:` URLs"),
            ("libsql://shop?tls=0", &[], "needs a port"),
            ("libsql://shop:1?tls=hunter2", &[], "must be `0` or `1`"),
            ("https://shop?tls=0", &[], "contradicts `https:`"),
            ("http://shop?tls=1", &[], "contradicts `http:`"),
            ("libsql://shop?tls=1", &[("tls", "0")], "`tls` of connector `libsql` is set to different values"),
            ("libsql://shop?authToken=hunter2", &[("jwt", "hunter22")], "`auth_token` of connector `libsql` is set to different values"),
            ("libsql://shop", &[("auth_token", "hunter2"), ("jwt", "hunter22")], "is set to different values"),
            ("libsql://shop", &[("auth_token", "hunter2\nx")], "contains a character that a token cannot have"),
            ("libsql://shop?authToken=hunter2%0d%0ax", &[], "contains a character that a token cannot have"),
            ("libsql://shop?syncUrl=hunter2", &[], "sets `syncUrl`"),
            ("libsql://shop", &[("sync_interval", "hunter2")], "has no option `sync_interval`; it has `auth_token`"),
        ];
        for (text, options, part) in cases {
            let error = parse(text, options).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Configuration, "{text}");
            assert!(error.message.contains(part), "{text}: {}", error.message);
            assert!(!error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
