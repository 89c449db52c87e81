use alloc::{format, string::String, vec::Vec};

use super::*;

/// What a block is, its first and its last address, and the addresses before and after, where those
/// are public.
type Block = (&'static str, &'static str, &'static str, Option<&'static str>, Option<&'static str>);

/// Blocks that are not public.
#[rustfmt::skip]
const BLOCKS: [Block; 41] = [
    ("this network",            "0.0.0.0",         "0.255.255.255",   None,                    Some("1.0.0.0")),
    ("private, 10/8",           "10.0.0.0",        "10.255.255.255",  Some("9.255.255.255"),   Some("11.0.0.0")),
    ("CGNAT",                   "100.64.0.0",      "100.127.255.255", Some("100.63.255.255"),  Some("100.128.0.0")),
    ("loopback",                "127.0.0.0",       "127.255.255.255", Some("126.255.255.255"), Some("128.0.0.0")),
    ("Azure's platform",        "168.63.129.16",   "168.63.129.16",   Some("168.63.129.15"),   Some("168.63.129.17")),
    ("link-local",              "169.254.0.0",     "169.254.255.255", Some("169.253.255.255"), Some("169.255.0.0")),
    ("private, 172.16/12",      "172.16.0.0",      "172.31.255.255",  Some("172.15.255.255"),  Some("172.32.0.0")),
    ("of the IETF",             "192.0.0.0",       "192.0.0.255",     Some("191.255.255.255"), Some("192.0.1.0")),
    ("TEST-NET-1",              "192.0.2.0",       "192.0.2.255",     Some("192.0.1.255"),     Some("192.0.3.0")),
    ("AS112",                   "192.31.196.0",    "192.31.196.255",  Some("192.31.195.255"),  Some("192.31.197.0")),
    ("AMT",                     "192.52.193.0",    "192.52.193.255",  Some("192.52.192.255"),  Some("192.52.194.0")),
    ("relays of 6to4",          "192.88.99.0",     "192.88.99.255",   Some("192.88.98.255"),   Some("192.88.100.0")),
    ("private, 192.168/16",     "192.168.0.0",     "192.168.255.255", Some("192.167.255.255"), Some("192.169.0.0")),
    ("direct delegation AS112", "192.175.48.0",    "192.175.48.255",  Some("192.175.47.255"),  Some("192.175.49.0")),
    ("benchmarks",              "198.18.0.0",      "198.19.255.255",  Some("198.17.255.255"),  Some("198.20.0.0")),
    ("TEST-NET-2",              "198.51.100.0",    "198.51.100.255",  Some("198.51.99.255"),   Some("198.51.101.0")),
    ("TEST-NET-3",              "203.0.113.0",     "203.0.113.255",   Some("203.0.112.255"),   Some("203.0.114.0")),
    ("multicast",               "224.0.0.0",       "239.255.255.255", Some("223.255.255.255"), None),
    ("reserved",                "240.0.0.0",       "255.255.255.254", None,                    None),
    ("broadcast",               "255.255.255.255", "255.255.255.255", None,                    None),

    ("unspecified",        "::",                  "::",                                      None, None),
    ("loopback",           "::1",                 "::1",                                     None, None),
    ("IPv4-compatible",    "::0.0.0.2",           "::255.255.255.255",                       None, None),
    ("IPv4-mapped",        "::ffff:0.0.0.0",      "::ffff:255.255.255.255",                  None, None),
    ("IPv4-translated",    "::ffff:0:0.0.0.0",    "::ffff:0:255.255.255.255",                None, None),
    ("NAT64",              "64:ff9b::",           "64:ff9b::255.255.255.255",                None, None),
    ("NAT64, local",       "64:ff9b:1::",         "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",      None, None),
    ("discard",            "100::",               "100::ffff:ffff:ffff:ffff",                None, None),
    ("dummy",              "100:0:0:1::",         "100:0:0:1:ffff:ffff:ffff:ffff",           None, None),
    ("of the IETF",        "2001::",              "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), Some("2001:200::")),
    ("Teredo",             "2001::",              "2001:0:ffff:ffff:ffff:ffff:ffff:ffff",    None, None),
    ("ORCHID",             "2001:10::",           "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff",   None, None),
    ("documentation",      "2001:db8::",          "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff"), Some("2001:db9::")),
    ("6to4",               "2002::",              "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), Some("2003::")),
    ("AS112",              "2620:4f:8000::",      "2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
        Some("2620:4f:7fff:ffff:ffff:ffff:ffff:ffff"), Some("2620:4f:8001::")),
    ("documentation, new", "3fff::",              "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
        Some("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), Some("3fff:1000::")),
    ("segment routing",    "5f00::",              "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("unique-local",       "fc00::",              "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("link-local",         "fe80::",              "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("site-local",         "fec0::",              "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ("multicast",          "ff00::",              "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
];

fn public(address: &str) -> bool {
    is_public(address.parse().unwrap())
}

#[test]
fn blocks_end_where_the_registries_say() {
    for (name, first, last, before, after) in BLOCKS {
        for address in [first, last] {
            assert!(!public(address), "{name}: {address} is within");
        }
        for address in [before, after].into_iter().flatten() {
            assert!(public(address), "{name}: {address} is outside");
        }
    }
}

#[test]
fn metadata_services_are_not_public_and_servers_are() {
    let services = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"];
    for address in services {
        assert!(!public(address), "{address}");
    }
    for address in ["1.1.1.1", "8.8.8.8", "140.82.121.4", "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001::200e"] {
        assert!(public(address), "{address}");
    }
}

#[test]
fn an_address_within_another_is_not_public() {
    for inner in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8"] {
        let [a, b, c, d] = inner.parse::<Ipv4Addr>().unwrap().octets();
        let outer = [
            format!("::{inner}"),
            format!("::ffff:{inner}"),
            format!("64:ff9b::{inner}"),
            format!("64:ff9b:1::{inner}"),
            format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1"),
            // Teredo has the client's address with its bits turned over.
            format!("2001:0:808:808::{:02x}{:02x}:{:02x}{:02x}", !a, !b, !c, !d),
        ];
        for address in &outer {
            assert!(!public(address), "{address}");
        }
    }
}

#[test]
fn hosts_are_refused_by_their_text() {
    let refused = [
        "",
        ".",
        "..",
        "127.0.0.1",
        "127.0.0.1.",
        "10.1.2.3",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:7f00:1]",
        "[fd00::1]",
        "::1",
        "[::1",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[1.1.1.1]",
        "localhost",
        "LocalHost",
        "localhost.",
        "localhost..",
        "a.localhost",
        "a.b.LOCALHOST.",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "017700000001",
        "1.2.3.4.5",
        "1.1.1.256",
        "a.1",
        "a.0x",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "me@1.1.1.1",
        "1.1.1.1:80",
        "a b",
        "a/b",
        "a\\b",
        "a,b",
    ];
    for host in refused {
        assert!(is_refused(host), "{host}");
    }
    for host in [
        "api.example.com",
        "api.example.com.",
        "1.1.1.1",
        "[2606:4700:4700::1111]",
        "1a.example",
        "localhost.example",
        "mylocalhost",
        "xn--bcher-kva.example",
    ] {
        assert!(!is_refused(host), "{host}");
    }
}

#[test]
fn urls_are_judged_with_their_user_and_scheme() {
    let message = |url: &str| judge(url).map_err(|error| (error.kind, error.into_parts().message)).unwrap_err();
    for url in ["https://api.example.com/v1?next=http://127.0.0.1/#@127.0.0.1", "http://1.1.1.1:8080/", "http://[2606:4700:4700::1111]/"] {
        assert_eq!(judge(url), Ok(()), "{url}");
    }
    let (kind, text) = message("https://127.0.0.1:8080/secret");
    assert_eq!(kind, ErrorKind::Denied);
    assert!(text.starts_with("`127.0.0.1` does not lead to a public address") && text.contains("`allow_private`"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    let (kind, text) = message("https://me:hunter2@api.example.com/");
    assert_eq!(kind, ErrorKind::Denied);
    assert_eq!(text, "the URL of a request to `api.example.com` must not have a user name or a password");
    let others: Vec<String> = ["ftp://1.1.1.1/", "file:///etc/passwd", "javascript:1", "https://", "https:///a", "//1.1.1.1/", ""]
        .map(|url| message(url).1)
        .into();
    for text in others {
        assert_eq!(text, "the URL of a request must begin with `https://` or `http://` and a host");
    }
}
