//! The texts that `format` and the types `datetime`, `date` and `uuid` take: the same in an app's
//! files and from a caller.

use alloc::format;
use core::{
    net::{Ipv4Addr, Ipv6Addr},
    ops::Range,
};

use jiff::civil::Date;

/// Whether a text has a format. A format that is not checked fits everything: the bundler says
/// which ones are.
#[must_use]
pub fn is(format: &str, text: &str) -> bool {
    match format {
        "email" => is_email(text),
        "uri" => is_uri(text),
        "hostname" => is_hostname(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "uuid" => is_uuid(text),
        "date" => is_date(text),
        "time" => is_offset_time(text),
        "date-time" => is_rfc3339(text),
        _ => true,
    }
}

/// RFC 3339, with a space in place of `T`, without an offset, or with one of whole hours (`+02`),
/// too; or `YYYY-MM-DD`. These are the forms in which databases write a moment and connectors
/// return it. A leap second, an infinity and a year beyond 9999 are none of them.
#[must_use]
pub fn is_datetime(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', ' ']) else { return is_date(text) };
    let (clock, offset) = time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()));
    is_date(date) && is_clock(clock) && (offset.is_empty() || is_offset(offset) || is_offset(&format!("{offset}:00")))
}

/// `YYYY-MM-DD`, a day of the calendar.
#[must_use]
pub fn is_date(text: &str) -> bool {
    // The calendar is the library's part. Its reader takes more forms than this one, and a Worker
    // would carry it.
    has_shape(text, "dddd-dd-dd") && Date::new(number(text, 0..4), number(text, 5..7) as i8, number(text, 8..10) as i8).is_ok()
}

/// 8-4-4-4-12 hexadecimal digits, in either case.
#[must_use]
pub fn is_uuid(text: &str) -> bool {
    has_shape(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

/// [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339#section-5.6), `T` and `Z` in capitals.
fn is_rfc3339(text: &str) -> bool {
    text.split_once('T').is_some_and(|(date, time)| is_date(date) && is_offset_time(time))
}

fn is_offset_time(text: &str) -> bool {
    text.find(['Z', '+', '-']).is_some_and(|at| is_clock(&text[..at]) && is_offset(&text[at..]))
}

/// `Z`, `+HH:MM` or `-HH:MM`.
fn is_offset(text: &str) -> bool {
    let in_range = |digits: &str| has_shape(digits, "dd:dd") && number(digits, 0..2) < 24 && number(digits, 3..5) < 60;
    text == "Z" || text.strip_prefix(['+', '-']).is_some_and(in_range)
}

/// `HH:MM:SS`, and a fraction.
fn is_clock(text: &str) -> bool {
    match text.split_once('.') {
        Some((time, fraction)) => is_plain_time(time) && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit()),
        None => is_plain_time(text),
    }
}

/// `HH:MM:SS`. No leap second: few databases read one.
fn is_plain_time(text: &str) -> bool {
    has_shape(text, "dd:dd:dd") && number(text, 0..2) < 24 && number(text, 3..5) < 60 && number(text, 6..8) < 60
}

/// Some digits of a text of which the shape is known.
fn number(text: &str, digits: Range<usize>) -> i16 {
    text.as_bytes().get(digits).unwrap_or_default().iter().fold(0, |number, digit| number * 10 + i16::from(digit - b'0'))
}

/// `d` is a digit, `x` a hexadecimal one, anything else is itself.
fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, expected)| match expected {
            b'd' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            other => byte == other,
        })
}

/// One `@` with something before it and a host name after it; no spaces. The form that mail servers
/// really take.
fn is_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, host)| {
        !local.is_empty()
            && local.len() <= 64
            && !local.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control())
            && is_hostname(host)
    })
}

/// [RFC 1123](https://www.rfc-editor.org/rfc/rfc1123#section-2.1)
fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

/// A scheme, a colon and what follows it, of the characters that [RFC
/// 3986](https://www.rfc-editor.org/rfc/rfc3986) knows.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme && !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("email", &["a@b.example", "a.b+c@d", "ü@x.de"], &["", "a", "@b", "a@", "a b@c", "a@b@c", "a@-b", "a@b..c"]),
            ("uri", &["https://a/b?c#d", "mailto:x@y", "urn:isbn:1"], &["", "a", ":x", "1a:x", "https://a b", "http:", "x:é"]),
            ("hostname", &["a", "a-b.example"], &["", ".", "a.", "-a", "a_b", "é"]),
            ("ipv4", &["127.0.0.1"], &["127.0.0.01", "1.2.3", "256.0.0.1"]),
            ("ipv6", &["::1", "fe80::1"], &["1.2.3.4", ":::"]),
            ("date", &["2024-02-29"], &["2023-02-29", "2024-2-9", "20240229", "2024-13-01", "2024-00-10"]),
            ("time", &["23:59:59Z", "00:00:00.5+01:30"], &["24:00:00Z", "23:59:60Z", "23:59:59", "1:2:3Z", "00:00:00.Z", "00:00:00+24:00"]),
            (
                "date-time",
                &["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.123-08:00"],
                &["2024-02-29 12:00:00Z", "2024-02-29T12:00Z", "2024-02-29T12:00:00", "2024-02-29t12:00:00z", "é"],
            ),
            ("uuid", &["123e4567-e89b-12d3-a456-426614174000"], &["", "123e4567-e89b-12d3-a456-42661417400g"]),
            ("something-else", &["", "x"], &[]),
        ];
        for (format, good, bad) in table {
            good.iter().for_each(|text| assert!(is(format, text), "{format}: {text}"));
            bad.iter().for_each(|text| assert!(!is(format, text), "{format}: {text}"));
        }
    }

    #[test]
    fn datetimes() {
        for good in [
            "2026-01-02",
            "2026-01-02 03:04:05",
            "2026-01-02 03:04:05.123456",
            "2026-01-02T03:04:05",
            "2026-01-02T03:04:05.1",
            "2026-01-02T03:04:05Z",
            "2026-01-02 03:04:05Z",
            "2026-01-02T03:04:05.000001+00:00",
            "2026-01-02 03:04:05.1-08:00",
            "2026-01-02 03:04:05+00",
            "2026-01-02T03:04:05.5-08",
        ] {
            assert!(is_datetime(good), "{good}");
        }
        for bad in [
            "",
            "T",
            "2026-01-02T",
            "2026-01-02 25:00:00",
            "2026-01-02T24:00:00",
            "2026-01-02T23:59:60",
            "2026-02-29T03:04:05",
            "2026-01-02  03:04:05",
            "2026-01-02T 03:04:05",
            "2026-01-02 03:04",
            "2026-01-02T03:04:05.",
            "2026-01-02T03:04:05+",
            "2026-01-02T03:04:05+2",
            "2026-01-02T03:04:05+24",
            "2026-01-02T03:04:05+0200",
            "2026-01-02T03:04:05+02:",
            "2026-01-02T03:04:05Z:00",
            "1800-01-01 00:00:00+00:53:28",
            "2026-01-02t03:04:05z",
            "10000-01-01 00:00:00+00",
            "0044-03-15 00:00:00+00 BC",
            "0000-00-00 00:00:00",
            "infinity",
            "now",
            "+026-01-02",
            "é026-01-02x",
            "2026-01-02T03:04:05Z[UTC]",
            "2026-01-02Té",
        ] {
            assert!(!is_datetime(bad), "{bad}");
        }
    }
}
