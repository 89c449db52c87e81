//! The URL of a server, from a connection string, an option or a variable. A small reader, because it goes into every Worker.

use alloc::{string::String, vec::Vec};

/// The parts of `scheme://host[:port][/path][?query]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Url<'a> {
    /// In lower case.
    pub scheme: String,
    /// Host and port.
    pub authority: &'a str,
    /// Whether the authority names a port.
    pub has_port: bool,
    /// Without a slash at its end.
    pub path: &'a str,
    /// The settings after `?`, percent codes undone.
    pub settings: Vec<(String, String)>,
}

impl<'a> Url<'a> {
    /// Reads a URL.
    ///
    /// # Errors
    /// A clause that names what is wrong and shows nothing of the text, which may hold a secret.
    pub fn parse(text: &'a str) -> Result<Self, &'static str> {
        if text.chars().any(|character| character.is_control() || character == ' ' || !character.is_ascii()) {
            return Err("contains a space or another character that a URL cannot have");
        }
        if text.contains('#') {
            return Err("has a `#`");
        }
        let (scheme, rest) = text.split_once("://").ok_or("is not a URL")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err("has a user name");
        }
        let (host, port) = match authority.rfind(':').filter(|colon| !authority[*colon..].contains(']')) {
            Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
            None => (authority, None),
        };
        let is_name = |host: &str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let is_v6 = |host: &str| host.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte));
        let is_host = match host.strip_prefix('[') {
            Some(host) => host.strip_suffix(']').is_some_and(|host| !host.is_empty() && is_v6(host)),
            None => !host.is_empty() && is_name(host),
        };
        if !is_host {
            return Err("names no host");
        }
        if port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
            return Err("has a wrong port");
        }
        let settings = query.split('&').filter(|setting| !setting.is_empty()).map(|setting| {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            Some((percent_decoded(name)?, percent_decoded(value)?))
        });
        let settings = settings.collect::<Option<_>>().ok_or("has percent-encoding that is not UTF-8")?;
        Ok(Self { scheme: scheme.to_ascii_lowercase(), authority, has_port: port.is_some(), path: path.trim_end_matches('/'), settings })
    }
}

/// Decodes percent codes; anything else stays. `None` where the result is not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return String::from_utf8(bytes).ok(),
            [b'%', high, low, tail @ ..] if digit(*high).is_some() && digit(*low).is_some() => {
                bytes.push(digit(*high).unwrap_or_default() * 16 + digit(*low).unwrap_or_default());
                tail
            }
            [first, tail @ ..] => {
                bytes.push(*first);
                tail
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use alloc::{borrow::ToOwned as _, vec};

    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let url = Url::parse("LibSQL://db-Me.turso.io:8080/a/b/?tls=0&&authToken=a%2Bb%zz").unwrap();
        let settings = vec![("tls".to_owned(), "0".to_owned()), ("authToken".to_owned(), "a+b%zz".to_owned())];
        assert_eq!(url, Url { scheme: "libsql".into(), authority: "db-Me.turso.io:8080", has_port: true, path: "/a/b", settings });
        let url = Url::parse("http://[::1]:80").unwrap();
        assert_eq!((url.authority, url.has_port, url.path), ("[::1]:80", true, ""));
        assert!(!Url::parse("http://[::1]/").unwrap().has_port);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("", "is not a URL"),
            ("db.example.com", "is not a URL"),
            ("https://", "names no host"),
            ("https:///x", "names no host"),
            ("https://a,b", "names no host"),
            ("https://[x]", "names no host"),
            ("https://[]", "names no host"),
            ("https://a:", "has a wrong port"),
            ("https://a:0", "has a wrong port"),
            ("https://a:x", "has a wrong port"),
            ("https://a:70000", "has a wrong port"),
            ("https://me:pw@a", "has a user name"),
            ("https://a/#x", "has a `#`"),
            ("https://a/ b", "contains a space or another character that a URL cannot have"),
            ("https://a/\r\nx: y", "contains a space or another character that a URL cannot have"),
            ("https://\u{e9}.example", "contains a space or another character that a URL cannot have"),
            ("https://a?x=%ff", "has percent-encoding that is not UTF-8"),
        ];
        for (text, why) in cases {
            assert_eq!(Url::parse(text), Err(why), "{text}");
        }
    }
}
