//! Addresses that scripts may ask for: absolute `http` and `https` URLs, taken apart far enough to
//! decide who may go where.
//!
//! Whoever sends the request parses the URL again. So that both see the same host, everything that
//! parsers are known to disagree about is refused: user names, backslashes, control characters,
//! spaces, percent signs and letters beyond ASCII in the host.

use alloc::{format, string::String};

use crate::{
    Error, ErrorKind, Result,
    url::{Authority, InvalidAuthority, UrlParts},
};

const PLAIN_HOST: &str = "a URL names a plain host, without user name or password";

/// An absolute URL that a script asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchUrl {
    scheme: Scheme,
    /// In lower case.
    host: String,
    port: u16,
    /// Path and query; begins with a slash.
    target: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl FetchUrl {
    /// Takes a URL apart; the fragment is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] for what is not a plain absolute `http` or `https` URL.
    pub fn parse(url: &str) -> Result<Self> {
        if url.contains(|c: char| c.is_control() || c == ' ' || c == '\\') {
            return Err(refused("a URL has no spaces, backslashes or control characters"));
        }
        let url = UrlParts::of(url).ok_or_else(|| refused("a URL begins with `http://` or `https://`"))?;
        let scheme = Scheme::parse(url.scheme)?;
        let (host, port) = split_authority(url.authority)?;
        let target = url.rest.split('#').next().unwrap_or_default();
        let slash = if target.starts_with('/') { "" } else { "/" };
        Ok(Self { scheme, host: host.to_ascii_lowercase(), port: port.unwrap_or(scheme.port()), target: format!("{slash}{target}") })
    }

    /// The address that a `Location` of this one names.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn join(&self, location: &str) -> Result<Self> {
        let scheme = self.scheme.as_str();
        let authority = self.authority();
        // A scheme ends at the first colon, where no slash, question mark or hash comes before it.
        let absolute = location.find([':', '/', '?', '#']).is_some_and(|at| location.as_bytes().get(at) == Some(&b':'));
        if absolute {
            return Self::parse(location);
        }
        if location.starts_with("//") {
            return Self::parse(&format!("{scheme}:{location}"));
        }
        let path = self.target.split('?').next().unwrap_or("/");
        let target = match location.as_bytes().first() {
            None | Some(b'#') => self.target.clone(),
            Some(b'/') => location.into(),
            Some(b'?') => format!("{path}{location}"),
            Some(_) => format!("{}{location}", path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or("/")),
        };
        Self::parse(&format!("{scheme}://{authority}{target}"))
    }

    /// Whether an entry of `fetch.allow` names this address: `api.example.com`, `*.example.com`
    /// (any depth below), each with an optional `:port`. Without one the scheme's own port is
    /// meant.
    #[must_use]
    pub fn matches(&self, entry: &str) -> bool {
        let Ok((host, port)) = split_authority(entry.strip_prefix("*.").unwrap_or(entry)) else { return false };
        if self.port != port.unwrap_or(self.scheme.port()) {
            return false;
        }
        let host = host.to_ascii_lowercase();
        if entry.starts_with("*.") {
            return self.host.strip_suffix(&host).and_then(|below| below.strip_suffix('.')).is_some_and(|below| !below.is_empty());
        }
        self.host == host
    }

    /// Whether scheme, host and port are the same.
    #[must_use]
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }

    /// Whether it is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.scheme == Scheme::Https
    }

    /// The host, in lower case.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host, and the port where it is not the scheme's own.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.port == self.scheme.port() { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// The path and the query; begins with a slash.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The whole of it.
    #[must_use]
    pub fn to_url(&self) -> String {
        format!("{}://{}{}", self.scheme.as_str(), self.authority(), self.target)
    }
}

impl Scheme {
    fn parse(scheme: &str) -> Result<Self> {
        match scheme.to_ascii_lowercase().as_str() {
            "http" => Ok(Self::Http),
            "https" => Ok(Self::Https),
            _ => Err(refused("a URL begins with `http://` or `https://`")),
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

fn split_authority(authority: &str) -> Result<(&str, Option<u16>)> {
    let server = Authority::parse(authority).map_err(|why| {
        refused(match why {
            InvalidAuthority::Host | InvalidAuthority::Bracket => PLAIN_HOST,
            InvalidAuthority::Port => "a port is a number",
            InvalidAuthority::PortRange => "a port is at least 1 and at most 65535",
        })
    })?;
    if server.user.is_some() || !server.is_plain() {
        return Err(refused(PLAIN_HOST));
    }
    Ok((server.written_host, server.port))
}

fn refused(why: &str) -> Error {
    Error::new(ErrorKind::Denied, format!("this address cannot be fetched: {why}"))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn addresses() {
        let table = [
            ("https://api.example.com", Some("https://api.example.com/")),
            ("HTTPS://API.Example.COM:443/a?b#c", Some("https://api.example.com/a?b")),
            ("http://h:8080?q=//x@y", Some("http://h:8080/?q=//x@y")),
            ("http://[::1]:9/x", Some("http://[::1]:9/x")),
            ("http://h/#http://evil", Some("http://h/")),
            ("ftp://h/", None),
            ("//h/", None),
            ("/x", None),
            ("", None),
            ("http://", None),
            ("http:///x", None),
            ("http://user@h/", None),
            ("http://a:b@h/", None),
            ("http://h\\@evil/", None),
            ("http://h /", None),
            ("http://h\t/", None),
            ("http://h%2eevil/", None),
            ("http://ℎ/", None),
            ("http://h:/", None),
            ("http://h:+80/", None),
            ("http://h:65536/", None),
            ("http://[::1/", None),
            ("http://[::1]x/", None),
            ("javascript:alert(1)", None),
        ];
        for (url, expected) in table {
            assert_eq!(FetchUrl::parse(url).ok().map(|address| address.to_url()).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn locations() {
        let base = FetchUrl::parse("https://a.example:8443/x/y?z").unwrap();
        let table = [
            ("https://b.example/", Some("https://b.example/")),
            ("//b.example/p", Some("https://b.example/p")),
            ("/p?q", Some("https://a.example:8443/p?q")),
            ("p", Some("https://a.example:8443/x/p")),
            ("?q", Some("https://a.example:8443/x/y?q")),
            ("#f", Some("https://a.example:8443/x/y?z")),
            ("", Some("https://a.example:8443/x/y?z")),
            ("a/b:c", Some("https://a.example:8443/x/a/b:c")),
            ("mailto:x", None),
            ("file:///etc/passwd", None),
            ("/\\evil.example/", None),
        ];
        for (location, expected) in table {
            assert_eq!(base.join(location).ok().map(|address| address.to_url()).as_deref(), expected, "{location}");
        }
    }

    #[test]
    fn allow_list() {
        let table = [
            ("https://api.example.com/", "api.example.com", true),
            ("http://api.example.com/", "api.example.com", true),
            ("https://API.example.com/", "api.EXAMPLE.com", true),
            ("https://api.example.com:8443/", "api.example.com", false),
            ("https://api.example.com:8443/", "api.example.com:8443", true),
            ("https://api.example.com/", "api.example.com:443", true),
            ("http://api.example.com/", "api.example.com:443", false),
            ("https://a.b.example.com/", "*.example.com", true),
            ("https://example.com/", "*.example.com", false),
            ("https://.example.com/", "*.example.com", false),
            ("https://evilexample.com/", "*.example.com", false),
            ("https://a.example.com.evil/", "*.example.com", false),
            ("https://a.example.com:9/", "*.example.com:9", true),
            ("https://api.example.com/", "*", false),
            ("https://api.example.com/", "", false),
        ];
        for (url, entry, expected) in table {
            assert_eq!(FetchUrl::parse(url).unwrap().matches(entry), expected, "{url} {entry}");
        }
        assert_eq!(FetchUrl::parse("https://h:9").unwrap().authority().to_string(), "h:9");
    }
}
