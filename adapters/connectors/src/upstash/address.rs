//! Where the REST API is and what lets us in, from a connection string and the options.

use millrace_core::{Error, ErrorKind, Result, secret::Secret, url::Url};

/// A database's URL, the token for it, and the commands that are allowed by name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UpstashAddress {
    /// `https://host[:port][/path]/`
    pub(super) url: String,
    pub(super) token: Secret<String>,
    /// With commas between them.
    pub(super) allow: String,
}

impl UpstashAddress {
    /// Reads a connection string and the options of an adapter.
    ///
    /// # Errors
    /// [`Configuration`](ErrorKind::Configuration). No message shows the string or a value: both
    /// may hold a secret.
    pub(super) fn parse(text: &str, options: &[(String, Secret<String>)]) -> Result<Self> {
        let wrong = |what: &str| {
            configuration(format!("the connection string of connector `upstash` {what}; write the database's REST URL, `https://host`"))
        };
        let url = Url::parse(text).map_err(wrong)?;
        match url.scheme.as_str() {
            "https" | "http" => {}
            "redis" | "rediss" => return Err(wrong("is for connector `redis`")),
            _ => return Err(wrong("is of another scheme")),
        }
        if !url.settings.is_empty() {
            return Err(wrong("has settings after `?`"));
        }
        let (mut token, mut allow) = (None, String::new());
        for (name, value) in options {
            match name.as_str() {
                "token" => token = Some(value.expose().trim()),
                "allow" => value.expose().trim().clone_into(&mut allow),
                _ => return Err(configuration(format!("connector `upstash` has no option `{name}`; it has `allow`, `token`"))),
            }
        }
        let token = token
            .filter(|token| !token.is_empty())
            .ok_or_else(|| configuration("connector `upstash` needs the option `token`: the database's REST token".to_owned()))?;
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(configuration("the `token` of connector `upstash` contains a character that a token cannot have".to_owned()));
        }
        Ok(Self { url: format!("{}://{}{}/", url.scheme, url.authority, url.path), token: Secret::new(token.to_owned()), allow })
    }
}

fn configuration(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, options: &[(&str, &str)]) -> Result<UpstashAddress> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned()))).collect();
        UpstashAddress::parse(text, &options)
    }

    #[test]
    fn addresses_are_read() {
        for (text, url) in [
            ("https://a-b-1.upstash.io", "https://a-b-1.upstash.io/"),
            ("HTTP://127.0.0.1:8079/", "http://127.0.0.1:8079/"),
            ("https://a/redis/", "https://a/redis/"),
        ] {
            let address = parse(text, &[("token", " t "), ("allow", "KEYS")]).unwrap();
            assert_eq!((address.url.as_str(), address.token.expose().as_str(), address.allow.as_str()), (url, "t", "KEYS"));
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_no_secret_is_shown() {
        let token = [("token", "hunter2")];
        for (text, options, expected) in [
            ("hunter2", &token[..], "is not a URL; write the database's REST URL"),
            ("rediss://a", &token, "is for connector `redis`"),
            ("rediss://default:hunter2@a", &token, "has a user name"),
            ("ftp://a", &token, "is of another scheme"),
            ("https://a?_token=hunter2", &token, "has settings after `?`"),
            ("https://a", &[], "needs the option `token`"),
            ("https://a", &[("token", " ")], "needs the option `token`"),
            ("https://a", &[("token", "hunter2\nx")], "a character that a token cannot have"),
            ("https://a", &[("url", "hunter2")], "has no option `url`; it has `allow`, `token`"),
        ] {
            let error = parse(text, options).unwrap_err();
            assert!(error.message.contains(expected) && !error.message.contains("hunter2"), "{text}: {}", error.message);
        }
    }
}
