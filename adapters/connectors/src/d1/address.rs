//! Which database, and what lets us in, from a connection string and the options.

use millrace_catalogue::D1;
use millrace_core::{Error, ErrorKind, Result, secret::Secret, url::Url};

const DEFAULT_BASE: &str = "https://api.cloudflare.com/client/v4";
const FORM: &str = "write `d1://ACCOUNT_ID/DATABASE_ID`";
const KNOWN: &str = "`api_token`, `base_url`";

/// A database's URL and the token for it.
#[derive(Debug, PartialEq)]
pub(super) struct D1Address {
    /// The URL that statements are posted to.
    pub(super) url: String,
    pub(super) token: Secret<String>,
}

impl D1Address {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(text: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let (account, database) = names(text)?;
        let mut base = DEFAULT_BASE.to_owned();
        let mut token = None;
        for (name, value) in options {
            let value = value.expose().trim();
            match name.as_str() {
                "api_token" => token = Some(value.to_owned()),
                "base_url" => base = base_url(value)?,
                _ => return Err(configuration(format!("connector `d1` has no option `{name}`; it has {KNOWN}"))),
            }
        }
        let token = token.filter(|token| !token.is_empty()).ok_or_else(|| {
            configuration("connector `d1` needs option `api_token`; make a token that may edit D1 in the account's settings".to_owned())
        })?;
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(configuration("the `api_token` of connector `d1` contains a character that a token cannot have".to_owned()));
        }
        Ok(Self { url: format!("{base}/accounts/{account}/d1/database/{database}/raw"), token: Secret::new(token) })
    }
}

fn names(text: &str) -> Result<(&str, &str)> {
    let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
    if !scheme.eq_ignore_ascii_case("d1") {
        return Err(configuration(format!("the connection string of connector `d1` names no D1 database; {FORM}")));
    }
    let Some(rest) = rest.strip_prefix("//") else {
        let message = "a `d1:BINDING` connection string is for a Worker, and this host has no bindings";
        return Err(configuration(format!("{message}; {FORM} and set option `api_token`")));
    };
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match rest.split_once('/') {
        Some((account, database)) if is_name(account) && is_name(database) => Ok((account, database)),
        _ => Err(configuration(format!("the connection string of connector `d1` does not name an account and a database; {FORM}"))),
    }
}

/// The name of the binding in a connection string, `d1:DB`.
///
/// # Errors
/// [`Configuration`](ErrorKind::Configuration) where it names none: `d1://ACCOUNT_ID/DATABASE_ID`
/// is for hosts that are no Worker.
pub fn binding(connection_string: &str) -> Result<&str> {
    D1.binding_in(connection_string).and_then(std::result::Result::ok).ok_or_else(|| {
        let message = "the connection string of connector `d1` must name the Worker's binding here: `d1:DB`";
        Error::new(ErrorKind::Configuration, message)
    })
}

fn base_url(text: &str) -> Result<String> {
    let wrong = |why: &str| configuration(format!("option `base_url` of connector `d1` {why}; write `https://host/path`"));
    let url = Url::parse(text).map_err(wrong)?;
    match url.scheme.as_str() {
        "http" | "https" if url.settings.is_empty() => Ok(format!("{}://{}{}", url.scheme, url.authority, url.path)),
        "http" | "https" => Err(wrong("has a query")),
        _ => Err(wrong("is neither an `http:` nor an `https:` URL")),
    }
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Written<'a> = &'a [(&'a str, &'a str)];

    fn parse(text: &str, options: &[(&str, &str)]) -> Result<D1Address> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        D1Address::parse(text, &options)
    }

    #[test]
    fn a_binding_is_named() {
        assert_eq!(binding(" d1:DB "), Ok("DB"));
        for wrong in ["", "DB", "d1:", "d1:a b", "d1://a/b", "libsql://x"] {
            assert_eq!(binding(wrong).map_err(|error| error.kind), Err(ErrorKind::Configuration), "{wrong}");
        }
    }

    #[test]
    fn a_database_is_named_by_account_and_id() {
        let url = "https://api.cloudflare.com/client/v4/accounts/0a1B/d1/database/1111-2222/raw";
        let expected = |url: &str| D1Address { url: url.to_owned(), token: Secret::new("t.k".to_owned()) };
        assert_eq!(parse("D1://0a1B/1111-2222", &[("api_token", " t.k ")]).unwrap(), expected(url));
        let options = [("api_token", "t.k"), ("base_url", "http://127.0.0.1:8787/api/")];
        assert_eq!(parse("d1://a/b", &options).unwrap(), expected("http://127.0.0.1:8787/api/accounts/a/d1/database/b/raw"));
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let token = ("api_token", "hunter2");
        let cases: [(&str, Written<'_>, &str); 14] = [
            ("d1:DB", &[token], "is for a Worker, and this host has no bindings; write `d1://ACCOUNT_ID/DATABASE_ID`"),
            ("", &[token], "names no D1 database"),
            ("hunter2", &[token], "names no D1 database"),
            ("libsql://hunter2", &[token], "names no D1 database"),
            ("d1://hunter2", &[token], "does not name an account and a database"),
            ("d1:///b", &[token], "does not name an account and a database"),
            ("d1://a/b/../hunter2", &[token], "does not name an account and a database"),
            ("d1://a/b?x=hunter2", &[token], "does not name an account and a database"),
            ("d1://a/b", &[], "needs option `api_token`"),
            ("d1://a/b", &[("api_token", " ")], "needs option `api_token`"),
            ("d1://a/b", &[("api_token", "hunter2\r\nx")], "contains a character that a token cannot have"),
            ("d1://a/b", &[token, ("base_url", "hunter2")], "option `base_url` of connector `d1` is not a URL"),
            ("d1://a/b", &[token, ("base_url", "https://x/?hunter2=1")], "has a query"),
            ("d1://a/b", &[token, ("token", "hunter2")], "has no option `token`; it has `api_token`, `base_url`"),
        ];
        for (text, options, part) in cases {
            let error = parse(text, options).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Configuration, "{text}");
            assert!(error.message.contains(part), "{text}: {}", error.message);
            assert!(!error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
