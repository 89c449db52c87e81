//! The URL of a server, from a connection string, an option or a variable. A small reader, because
//! it goes into every Worker.

use alloc::{string::String, vec::Vec};
use core::{fmt::Write as _, net::Ipv6Addr};

use crate::hex;

/// A URL cut where its parts meet. Nothing of it is checked, and percent codes stay.
///
/// ```
/// use millrace_core::url::UrlParts;
///
/// let parts = UrlParts::of("https://shop.example:8443/a?b").unwrap();
/// assert_eq!((parts.scheme, parts.authority, parts.rest), ("https", "shop.example:8443", "/a?b"));
/// assert!(UrlParts::of("shop.example").is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlParts<'a> {
    /// What stands before `://`.
    pub scheme: &'a str,
    /// Everything behind `://`.
    pub after_scheme: &'a str,
    /// What of that stands before the first `/`, `?` or `#`.
    pub authority: &'a str,
    /// The path, the query and the fragment.
    pub rest: &'a str,
}

impl<'a> UrlParts<'a> {
    /// `None` where a text has no `://`.
    #[must_use]
    pub fn of(text: &'a str) -> Option<Self> {
        let (scheme, after_scheme) = scheme_and_rest(text)?;
        let (authority, rest) = after_scheme.split_at(after_scheme.find(['/', '?', '#']).unwrap_or(after_scheme.len()));
        Some(Self { scheme, after_scheme, authority, rest })
    }

    /// Whether the scheme is a name as a URL has it
    /// ([RFC 3986](https://www.rfc-editor.org/rfc/rfc3986#section-3.1)).
    #[must_use]
    pub fn has_scheme(&self) -> bool {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        self.scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && self.scheme.bytes().all(is_part)
    }
}

/// The parts of `scheme://[user[:password]@]host[:port][/path][?query]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Url<'a> {
    /// In lower case.
    pub scheme: String,
    /// Host and port, as written.
    pub authority: &'a str,
    /// The same, and the user, taken apart.
    pub server: Authority<'a>,
    /// Without a slash at its end.
    pub path: &'a str,
    /// The settings after `?`, percent codes undone.
    pub settings: Vec<(String, String)>,
}

impl<'a> Url<'a> {
    /// Reads a URL that names no user.
    ///
    /// # Errors
    /// A clause that names what is wrong and shows nothing of the text, which may hold a secret.
    pub fn parse(text: &'a str) -> Result<Self, &'static str> {
        let url = Self::parse_with_user(text)?;
        if url.server.user.is_some() { Err("has a user name") } else { Ok(url) }
    }

    /// Reads a URL that may name a user.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with_user(text: &'a str) -> Result<Self, &'static str> {
        if text.chars().any(|character| character.is_control() || character == ' ' || !character.is_ascii()) {
            return Err("contains a space or another character that a URL cannot have");
        }
        if text.contains('#') {
            return Err("has a `#`");
        }
        let UrlParts { scheme, authority, rest, .. } = UrlParts::of(text).ok_or("is not a URL")?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let server = Authority::parse(authority).map_err(InvalidAuthority::as_str)?;
        if !server.is_plain() {
            return Err(InvalidAuthority::Host.as_str());
        }
        let authority = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        let settings = query.split('&').filter(|setting| !setting.is_empty()).map(|setting| {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            Some((percent_decoded(name)?, percent_decoded(value)?))
        });
        let settings = settings.collect::<Option<_>>().ok_or("has percent-encoding that is not UTF-8")?;
        Ok(Self { scheme: scheme.to_ascii_lowercase(), authority, server, path: path.trim_end_matches('/'), settings })
    }
}

/// `[user[:password]@]host[:port]`, taken apart. Percent codes stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority<'a> {
    /// What stands before `:` and the last `@`.
    pub user: Option<&'a str>,
    /// What stands between the first `:` after the user and the last `@`.
    pub password: Option<&'a str>,
    /// Without the brackets of an IPv6 address.
    pub host: &'a str,
    /// As written, with the brackets of an IPv6 address.
    pub written_host: &'a str,
    /// From 1 to 65535.
    pub port: Option<u16>,
}

/// Why a text is no [`Authority`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidAuthority {
    /// The host is missing, or what stands between brackets is no IPv6 address.
    Host,
    /// A `[` has no `]`.
    Bracket,
    /// What stands after the host is not `:` and digits.
    Port,
    /// The port is 0, or more than 65535.
    PortRange,
}

impl InvalidAuthority {
    /// A clause about a URL, which shows nothing of it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "names no host",
            Self::Bracket => "has a `[` without a `]`",
            Self::Port | Self::PortRange => "has a wrong port",
        }
    }
}

impl<'a> Authority<'a> {
    /// Takes a text apart. Of the host, only an IPv6 address is looked at; see
    /// [`is_plain`](Self::is_plain).
    ///
    /// # Errors
    /// There is no host, or the port is wrong: an empty one is.
    pub fn parse(text: &'a str) -> Result<Self, InvalidAuthority> {
        let (login, place) = text.rsplit_once('@').map_or((None, text), |(login, place)| (Some(login), place));
        let (user, password) = match login.map(|login| login.split_once(':').ok_or(login)) {
            None => (None, None),
            Some(Ok((user, password))) => (Some(user), Some(password)),
            Some(Err(user)) => (Some(user), None),
        };
        let is_v6 = place.starts_with('[');
        let end = if is_v6 { place.find(']').ok_or(InvalidAuthority::Bracket)? + 1 } else { place.find(':').unwrap_or(place.len()) };
        let (written_host, rest) = place.split_at(end);
        let host = if is_v6 { &written_host[1..end - 1] } else { written_host };
        if host.is_empty() || is_v6 && host.parse::<Ipv6Addr>().is_err() {
            return Err(InvalidAuthority::Host);
        }
        let port = match rest.strip_prefix(':') {
            None if rest.is_empty() => None,
            Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok().filter(|port| *port > 0).ok_or(InvalidAuthority::PortRange)?)
            }
            _ => return Err(InvalidAuthority::Port),
        };
        Ok(Self { user, password, host, written_host, port })
    }

    /// Whether the host is an address, or a name of letters, digits, `-`, `.` and `_`.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let is_v6 = self.host.len() != self.written_host.len();
        is_v6 || self.host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    }
}

/// The scheme of a URL as it is written, and what stands after its `://`. `None` for what is not
/// one.
#[must_use]
pub fn scheme_and_rest(text: &str) -> Option<(&str, &str)> {
    text.split_once("://")
}

/// Percent codes for all that has a meaning in a URL, or none: everything but the
/// [unreserved](https://www.rfc-editor.org/rfc/rfc3986#section-2.3) characters.
#[must_use]
pub fn percent_coded(text: &str) -> String {
    percent_coded_except(text.as_bytes(), b"-._~")
}

/// Percent codes for all bytes but letters, digits and those that stay `plain`.
#[must_use]
pub fn percent_coded_except(bytes: &[u8], plain: &[u8]) -> String {
    let mut coded = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || plain.contains(byte) {
            coded.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(coded, "%{byte:02X}");
        }
    }
    coded
}

/// Decodes percent codes; anything else stays. `None` where the result is not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match tail {
            [high, low, after @ ..] if *first == b'%' => hex::byte([*high, *low]).map(|byte| (byte, after)),
            _ => None,
        };
        let (byte, after) = code.unwrap_or((*first, tail));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Undoes percent codes. `None` where the result is not UTF-8, and where a `%` begins no code.
#[must_use]
pub fn percent_decoded_strictly(text: &str) -> Option<String> {
    let is_code = |after: &str| after.as_bytes().first_chunk().is_some_and(|code| hex::byte(*code).is_some());
    text.split('%').skip(1).all(is_code).then(|| percent_decoded(text)).flatten()
}

#[cfg(test)]
mod tests {
    use alloc::{borrow::ToOwned as _, vec};

    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let url = Url::parse("LibSQL://db-Me.turso.io:8080/a/b/?tls=0&&authToken=a%2Bb%zz").unwrap();
        let settings = vec![("tls".to_owned(), "0".to_owned()), ("authToken".to_owned(), "a+b%zz".to_owned())];
        let host = "db-Me.turso.io";
        let server = Authority { user: None, password: None, host, written_host: host, port: Some(8080) };
        assert_eq!(url, Url { scheme: "libsql".into(), authority: "db-Me.turso.io:8080", server, path: "/a/b", settings });
        let url = Url::parse("http://[::1]:80").unwrap();
        assert_eq!((url.authority, url.server.host, url.server.port, url.path), ("[::1]:80", "::1", Some(80), ""));
        assert_eq!(Url::parse("http://[::1]/").unwrap().server.port, None);
        let url = Url::parse_with_user("redis://me:p@ss%40@h:7/3").unwrap();
        assert_eq!((url.authority, url.server.user, url.server.password), ("h:7", Some("me"), Some("p@ss%40")));
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
            ("https://a:+80", "has a wrong port"),
            ("https://[::1]80", "has a wrong port"),
            ("https://[::1::2]", "names no host"),
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

    #[test]
    fn authorities_are_taken_apart() {
        use InvalidAuthority::{Bracket, Host, Port, PortRange};
        let found = |text| Authority::parse(text).map(|it| (it.user, it.password, it.host, it.written_host, it.port));
        let cases = [
            ("h", (None, None, "h", "h", None)),
            ("h:1", (None, None, "h", "h", Some(1))),
            ("h:65535", (None, None, "h", "h", Some(65535))),
            ("[::1]", (None, None, "::1", "[::1]", None)),
            ("[2001:db8::1]:5432", (None, None, "2001:db8::1", "[2001:db8::1]", Some(5432))),
            ("me@h", (Some("me"), None, "h", "h", None)),
            ("me:@h", (Some("me"), Some(""), "h", "h", None)),
            (":pw@h", (Some(""), Some("pw"), "h", "h", None)),
            ("@h", (Some(""), None, "h", "h", None)),
            ("me:p@s:w%40@[::1]:7", (Some("me"), Some("p@s:w%40"), "::1", "[::1]", Some(7))),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), Ok(expected), "{text}");
        }
        let wrong = [
            ("", Host),
            (":1", Host),
            ("me@", Host),
            ("me:pw@:1", Host),
            ("[::1", Bracket),
            ("[]", Host),
            ("[h]", Host),
            ("::1", Host),
            ("h:", Port),
            ("[::1]:", Port),
            ("[::1]x:1", Port),
            ("h:1:2", Port),
            ("h:-1", Port),
            ("h:+1", Port),
            ("h: 1", Port),
            ("h:x", Port),
            ("h:0", PortRange),
            ("h:65536", PortRange),
            ("h:99999999999", PortRange),
        ];
        for (text, expected) in wrong {
            assert_eq!(found(text), Err(expected), "{text}");
        }
        assert!(Authority::parse("a,b").is_ok_and(|it| !it.is_plain()) && Authority::parse("[::1]").is_ok_and(|it| it.is_plain()));
    }

    #[test]
    fn percent_codes_are_undone() {
        let cases = [
            ("a%20b", Some("a b")),
            ("%41%e2%82%ac", Some("A€")),
            ("%", Some("%")),
            ("%4", Some("%4")),
            ("%zz%41", Some("%zzA")),
            ("%ff", None),
        ];
        for (text, expected) in cases {
            assert_eq!(percent_decoded(text).as_deref(), expected, "{text}");
            assert_eq!(percent_decoded_strictly(text).as_deref(), expected.filter(|_| !["%", "%4", "%zz%41"].contains(&text)), "{text}");
        }
        assert_eq!(percent_decoded_strictly("%é"), None);
        assert_eq!(percent_coded("a b/é-._~%"), "a%20b%2F%C3%A9-._~%25");
    }
}
