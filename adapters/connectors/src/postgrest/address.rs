//! Where PostgREST is and what lets us in, from a connection string and the options.

use millrace_core::{Error, ErrorKind, Result, secret::Secret, url::Url};

use crate::shared::is_loopback;

/// How many rows Supabase sends at most, unless a project says otherwise.
const SERVER_MAX_ROWS: usize = 1_000;
const NAMES: &str = "`api_key`, `schema`, `server_max_rows`, `token`";

/// A server and what it is shown.
#[derive(Debug)]
pub(super) struct PostgrestAddress {
    /// Without a slash at its end.
    pub(super) url: String,
    /// The header `apikey`.
    pub(super) api_key: Option<Secret<String>>,
    /// The bearer's token.
    pub(super) token: Option<Secret<String>>,
    /// The schema whose tables and functions are meant; the server's first where none is named.
    pub(super) schema: Option<String>,
    /// `None` for a server without a limit.
    pub(super) server_max_rows: Option<usize>,
}

impl PostgrestAddress {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(text: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let wrong = |what: &str| {
            configuration(format!(
                "the connection string of connector `postgrest` {what}; write the URL of the REST API, `https://PROJECT.supabase.co/rest/v1`"
            ))
        };
        let (mut api_key, mut token, mut schema, mut server_max_rows) = (None, None, None, Some(SERVER_MAX_ROWS));
        for (name, value) in options {
            let value = value.expose().trim();
            let of_header = || {
                let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic());
                let contains = || configuration(format!("the `{name}` of connector `postgrest` contains a character that it cannot have"));
                // An empty variable means that there is no such setting.
                if is_plain { Ok((!value.is_empty()).then(|| value.to_owned())) } else { Err(contains()) }
            };
            match name.as_str() {
                "api_key" => api_key = of_header()?.map(Secret::new),
                "token" => token = of_header()?.map(Secret::new),
                "schema" => schema = of_header()?,
                "server_max_rows" => {
                    let number: usize = value.parse().map_err(|_| {
                        configuration("`server_max_rows` of connector `postgrest` must be a whole number from 0".to_owned())
                    })?;
                    server_max_rows = (number > 0).then_some(number);
                }
                _ => return Err(configuration(format!("connector `postgrest` has no option `{name}`; it has {NAMES}"))),
            }
        }
        let url = Url::parse(text).map_err(wrong)?;
        match url.scheme.as_str() {
            "https" => {}
            "http" if is_loopback(url.server.host) => {}
            "http" => return Err(wrong("has no TLS, which only a server on this machine may do without")),
            "postgres" | "postgresql" => return Err(wrong("is for connector `postgres`")),
            _ => return Err(wrong("is of another scheme")),
        }
        if !url.settings.is_empty() {
            return Err(wrong("has settings after `?`"));
        }
        // As Supabase's own client does.
        let token = token.or_else(|| api_key.clone());
        Ok(Self { url: format!("{}://{}{}", url.scheme, url.authority, url.path), api_key, token, schema, server_max_rows })
    }
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, options: &[(&str, &str)]) -> Result<PostgrestAddress> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        PostgrestAddress::parse(text, &options)
    }

    #[test]
    fn addresses_are_read() {
        let address = parse("HTTPS://a.supabase.co/rest/v1/", &[("api_key", " k "), ("schema", "api")]).unwrap();
        let exposed = |secret: &Option<Secret<String>>| secret.as_ref().map(|secret| secret.expose().clone());
        assert_eq!(address.url, "https://a.supabase.co/rest/v1");
        assert_eq!((exposed(&address.api_key), exposed(&address.token)), (Some("k".into()), Some("k".into())));
        assert_eq!((address.schema.as_deref(), address.server_max_rows), (Some("api"), Some(1_000)));
        let address = parse("http://127.0.0.1:3000", &[("api_key", "k"), ("token", "t"), ("server_max_rows", "0")]).unwrap();
        assert_eq!((exposed(&address.api_key), exposed(&address.token)), (Some("k".into()), Some("t".into())));
        assert_eq!((address.url.as_str(), address.schema, address.server_max_rows), ("http://127.0.0.1:3000", None, None));
        let address = parse("http://localhost/api", &[("token", " "), ("api_key", "")]).unwrap();
        assert!(address.token.is_none() && address.api_key.is_none());
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        for (text, options, expected) in [
            ("hunter2", &[][..], "is not a URL; write the URL of the REST API"),
            ("http://a.example.com/hunter2", &[], "has no TLS"),
            ("http://127.0.0.1.example.com", &[], "has no TLS"),
            ("postgres://me:hunter2@a/b", &[], "has a user name"),
            ("postgres://a/hunter2", &[], "is for connector `postgres`"),
            ("ftp://a/hunter2", &[], "is of another scheme"),
            ("https://a?apikey=hunter2", &[], "has settings after `?`"),
            ("https://a", &[("token", "hunter2\nx")], "the `token` of connector `postgrest` contains a character"),
            ("https://a", &[("api_key", "hunter2 x")], "the `api_key` of connector `postgrest` contains a character"),
            ("https://a", &[("server_max_rows", "hunter2")], "must be a whole number from 0"),
            ("https://a", &[("url", "hunter2")], "has no option `url`; it has `api_key`, `schema`"),
        ] {
            let error = parse(text, options).unwrap_err();
            assert!(error.kind == ErrorKind::Configuration && error.message.contains(expected), "{text}: {}", error.message);
            assert!(!error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
