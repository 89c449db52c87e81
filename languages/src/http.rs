//! Requests of HTTP, as an API of any kind takes them: what an author may write, and how a part of
//! an answer is named.
//!
//! The build asks here, and so does the driver, for requests that a script makes at a call.

mod evaluate;
mod jmespath;
mod selection;
mod syntax;

pub use selection::Selection;
pub use syntax::InvalidSelection;

use millrace_core::url::percent_decoded_strictly;

/// The methods that a request may have.
pub const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// The most requests of an isolate that `max_requests` lets be under way at once.
pub const MOST_REQUESTS: usize = 256;

/// A token for the client itself ([RFC 6749](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)).
pub const CLIENT_CREDENTIALS: &str = "client_credentials";

/// A token for the caller, in exchange for the caller's own
/// ([RFC 8693](https://www.rfc-editor.org/rfc/rfc8693)).
pub const TOKEN_EXCHANGE: &str = "token_exchange";

/// How an adapter asks for tokens.
pub const GRANTS: [&str; 2] = [CLIENT_CREDENTIALS, TOKEN_EXCHANGE];

/// Header fields that are the client's business, or decide who is asked and as whom.
const OWN_FIELDS: [&str; 13] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The method that a text names, whatever its case.
#[must_use]
pub fn method(text: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|method| method.eq_ignore_ascii_case(text))
}

/// Whether a method changes nothing
/// ([RFC 9110](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1)).
#[must_use]
pub fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

/// Why a text cannot be the name of a header field of a request; `None` for one that can.
#[must_use]
pub fn header_flaw(name: &str) -> Option<&'static str> {
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some("is not the name of a header field");
    }
    OWN_FIELDS.iter().any(|own| own.eq_ignore_ascii_case(name)).then_some("is a header field that is set by the connector")
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~')
}

/// Whether a text can be the value of a header field: visible characters of ASCII, spaces and tabs.
#[must_use]
pub fn is_header_value(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t'))
}

/// Why a part of a path that an author wrote cannot stand in a URL; `None` for one that can. The
/// first part of a path begins with a slash.
#[must_use]
pub fn path_flaw(text: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/%".contains(&byte);
    if text.contains(['?', '#']) {
        return Some("contains a `?` or a `#`, which end a path");
    }
    if !text.bytes().all(is_plain) {
        return Some("contains a character that a path has only percent-encoded");
    }
    let Some(decoded) = percent_decoded_strictly(text) else { return Some("contains a `%` that begins no code of UTF-8") };
    if has_step(&decoded) {
        return Some("has a segment `.` or `..`, which names another path");
    }
    None
}

/// Whether a text, or a part of it between slashes, is `.` or `..`, which names another path: a
/// server that decodes `%2F` before it looks for its routes would go there.
#[must_use]
pub fn has_step(text: &str) -> bool {
    text.split(['/', '\\']).any(|part| matches!(part, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_held_to_their_form() {
        for path in ["/", "", "/a/b.json", "/a:b@c;d=1,2", "/%41%2F%E2%82%AC", "/...", "/a..b", "//", "/a.", "/(x)'"] {
            assert_eq!(path_flaw(path), None, "{path}");
        }
        for (path, expected) in [
            ("/a?b", "a `?`"),
            ("/a#b", "a `#`"),
            ("/a b", "percent-encoded"),
            ("/ä", "percent-encoded"),
            ("/a\\b", "percent-encoded"),
            ("/a\r\nb", "percent-encoded"),
            ("/%", "begins no code"),
            ("/%zz", "begins no code"),
            ("/%ff", "begins no code"),
            ("/.", "a segment"),
            ("/a/../b", "a segment"),
            ("/a/%2e%2E/b", "a segment"),
            ("/a/.%2e", "a segment"),
            ("/a%2f..%2fb", "a segment"),
        ] {
            assert!(path_flaw(path).is_some_and(|flaw| flaw.contains(expected)), "{path}: {:?}", path_flaw(path));
        }
    }

    #[test]
    fn header_fields_are_held_to_their_form() {
        for name in ["Accept", "X-Request-Id", "Cookie", "a!b"] {
            assert_eq!(header_flaw(name), None, "{name}");
        }
        for name in ["", "a b", "a:", "ä", "a\r\nb", "Host", "AUTHORIZATION", "Trailer", "Transfer-Encoding"] {
            assert!(header_flaw(name).is_some(), "{name}");
        }
        assert!(is_header_value("a b\t~!") && is_header_value(""));
        assert!(["a\r\nb", "a\0", "ä", "\u{7f}"].iter().all(|value| !is_header_value(value)));
    }

    #[test]
    fn methods_are_known() {
        assert_eq!((method("get"), method("PATCH"), method("TRACE"), method("")), (Some("GET"), Some("PATCH"), None, None));
        assert!(is_safe("GET") && is_safe("HEAD") && !is_safe("POST"));
    }
}
