//! Which addresses are public: for requests that may go nowhere else.
//!
//! A name is judged by what it resolves to, so a host that resolves names itself asks
//! [`is_public`] about each address and connects to no other. The rest is judged by its text: the
//! URL, as a reader by [the standard](https://url.spec.whatwg.org/) writes it, to [`judge`].

use alloc::format;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::{
    Error, ErrorKind, Result,
    url::{Authority, UrlParts},
};

/// Whether an address belongs to the public internet.
///
/// No block of IANA's registries of special-purpose addresses does, for
/// [IPv4](https://www.iana.org/assignments/iana-ipv4-special-registry) and
/// [IPv6](https://www.iana.org/assignments/iana-ipv6-special-registry), whatever they say of who
/// may reach it; and no multicast address. Of IPv6, only what is
/// [assigned](https://www.iana.org/assignments/ipv6-address-space) to global unicast does. An IPv4
/// address within one of IPv6 (mapped, compatible, NAT64, 6to4, Teredo) is never public.
///
/// ```
/// use millrace_core::public_address::is_public;
///
/// assert!(is_public("1.1.1.1".parse().unwrap()));
/// assert!(!is_public("169.254.169.254".parse().unwrap()));
/// assert!(!is_public("::ffff:1.1.1.1".parse().unwrap()));
/// ```
#[must_use]
pub const fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

const fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        // This network, with the unspecified address; private; loopback.
        [0 | 10 | 127, ..]
            // Between a provider and its customers (CGNAT).
            | [100, 64..=127, ..]
            // Link-local: what the metadata services of most clouds have.
            | [169, 254, ..]
            // Private.
            | [172, 16..=31, ..]
            | [192, 168, ..]
            // Assignments of the IETF; documentation.
            | [192, 0, 0 | 2, _]
            // AS112; AMT; relays of 6to4; AS112 again.
            | [192, 31, 196, _]
            | [192, 52, 193, _]
            | [192, 88, 99, _]
            | [192, 175, 48, _]
            // Benchmarks.
            | [198, 18 | 19, ..]
            // Documentation.
            | [198, 51, 100, _]
            | [203, 0, 113, _]
            // Multicast; reserved, with broadcast.
            | [224..=255, ..]
            // Azure's platform: a public address, which within Azure leads to the machine's host.
            | [168, 63, 129, 16]
    )
}

const fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // Outside of global unicast are the unspecified address, loopback, IPv4-mapped and -compatible
    // ones, NAT64, discard, segment routing, unique-local, link-local, site-local and multicast.
    matches!(segments, [0x2000..=0x3fff, ..])
        && !matches!(
            segments,
            // Assignments of the IETF: Teredo, benchmarks, AMT, AS112, ORCHID, drones.
            [0x2001, 0..=0x1ff, ..]
                // Documentation.
                | [0x2001, 0xdb8, ..]
                | [0x3fff, 0..=0xfff, ..]
                // 6to4.
                | [0x2002, ..]
                // AS112.
                | [0x2620, 0x4f, 0x8000, ..]
        )
}

/// Whether the host of a URL is refused by its text alone: an address that is not public,
/// `localhost` and the names below it, and what is no plain host. Any other name is for whoever
/// resolves it to judge.
///
/// The host is written as in a URL: an IPv6 address has brackets. A number that another reader
/// could take for an address, such as `2130706433` or `0x7f.1`, is refused, too.
#[must_use]
pub fn is_refused(host: &str) -> bool {
    let Ok(server) = Authority::parse(host) else { return true };
    if server.user.is_some() || server.port.is_some() || !server.is_plain() {
        return true;
    }
    if let Ok(address) = server.host.parse() {
        return !is_public(address);
    }
    // A name of DNS may end in dots.
    let name = server.host.trim_end_matches('.');
    let last = name.rsplit('.').next().unwrap_or_default();
    last.is_empty() || last.starts_with(|first: char| first.is_ascii_digit()) || last.eq_ignore_ascii_case("localhost")
}

/// Refuses a URL that cannot lead to a public address, or that names a user.
///
/// # Errors
/// [`Denied`](ErrorKind::Denied), with the host.
pub fn judge(url: &str) -> Result<()> {
    let parts = UrlParts::of(url).filter(|parts| ["http", "https"].contains(&parts.scheme));
    let Some(server) = parts.and_then(|parts| Authority::parse(parts.authority).ok()) else {
        return Err(Error::new(ErrorKind::Denied, "the URL of a request must begin with `https://` or `http://` and a host"));
    };
    if server.user.is_some() {
        let message = format!("the URL of a request to `{}` must not have a user name or a password", server.written_host);
        return Err(Error::new(ErrorKind::Denied, message));
    }
    if is_refused(server.written_host) { Err(refusal(server.written_host)) } else { Ok(()) }
}

/// Why a request to this host is not sent.
#[must_use]
pub fn refusal(host: &str) -> Error {
    let message = format!(
        "`{host}` does not lead to a public address, and others are not reached; for a service of your own, give the adapter's option \
         `allow_private` a reason"
    );
    Error::new(ErrorKind::Denied, message)
}

#[cfg(test)]
mod tests;
