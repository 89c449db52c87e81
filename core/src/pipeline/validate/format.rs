//! `format`, and the texts of dates, times and UUIDs.

use core::{
    net::{Ipv4Addr, Ipv6Addr},
    ops::Range,
};

use jiff::civil::Date;

/// Whether a text has a format. A format that is not checked fits everything: the bundler says which ones are.
pub(super) fn is(format: &str, text: &str) -> bool {
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

/// RFC 3339, `YYYY-MM-DD` or `YYYY-MM-DD HH:MM:SS`.
pub(super) fn is_datetime(text: &str) -> bool {
    is_date(text) || is_rfc3339(text) || text.split_once(' ').is_some_and(|(date, time)| is_date(date) && is_plain_time(time))
}

/// `YYYY-MM-DD`, a day of the calendar.
pub(super) fn is_date(text: &str) -> bool {
    // The calendar is the library's part. Its reader takes more forms than this one, and a Worker would carry it.
    has_shape(text, "dddd-dd-dd") && Date::new(number(text, 0..4), number(text, 5..7) as i8, number(text, 8..10) as i8).is_ok()
}

/// 8-4-4-4-12 hexadecimal digits, in either case.
pub(super) fn is_uuid(text: &str) -> bool {
    has_shape(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")
}

/// [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339#section-5.6), `T` and `Z` in capitals.
fn is_rfc3339(text: &str) -> bool {
    text.split_once('T').is_some_and(|(date, time)| is_date(date) && is_offset_time(time))
}

fn is_offset_time(text: &str) -> bool {
    let time = match text.strip_suffix('Z') {
        Some(time) => time,
        None => {
            let Some((time, offset)) = text.split_at_checked(text.len().saturating_sub(6)) else { return false };
            let hours_and_minutes = offset.strip_prefix(['+', '-']).is_some_and(|offset| {
                has_shape(offset, "dd:dd") && offset.get(..2).is_some_and(|hours| hours < "24") && offset.get(3..).is_some_and(|m| m < "60")
            });
            if !hours_and_minutes {
                return false;
            }
            time
        }
    };
    match time.split_once('.') {
        Some((time, fraction)) => is_plain_time(time) && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit()),
        None => is_plain_time(time),
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

/// One `@` with something before it and a host name after it; no spaces. The form that mail servers really take.
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

/// A scheme, a colon and what follows it, of the characters that [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986) knows.
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
        for good in ["2026-01-02", "2026-01-02 03:04:05", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000001+00:00"] {
            assert!(is_datetime(good), "{good}");
        }
        for bad in [
            "",
            "2026-01-02T03:04:05",
            "2026-01-02 25:00:00",
            "2026-01-02  03:04:05",
            "2026-01-02 03:04",
            "now",
            "2026-01-02T03:04:05Z[UTC]",
        ] {
            assert!(!is_datetime(bad), "{bad}");
        }
    }
}
