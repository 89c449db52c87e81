//! Moments as databases without zones read them.

use jiff::{
    SignedDuration,
    civil::{Date, Time},
};

/// `2026-01-02T05:04:05.1+02:00` as `2026-01-02 03:04:05.1`: servers that keep no zone read no
/// offset, and no `Z`. What is below a microsecond is left out. `None` for another form.
pub(crate) fn utc_text(text: &str) -> Option<String> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(at);
    let offset = match zone {
        "" | "Z" | "z" => 0,
        _ => offset_minutes(zone)?,
    };
    let (time, fraction) = time.split_once('.').map_or((time, ""), |(time, fraction)| (time, fraction));
    let fraction = fraction.get(..6).unwrap_or(fraction);
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    // A second that is a leap stays one.
    let is_second = second <= 60 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let clock = Time::new(hour.try_into().ok()?, minute.try_into().ok()?, 0, 0).ok()?;
    let moment = date_of(date)?.to_datetime(clock);
    let moment = moment.checked_sub(SignedDuration::from_mins(offset)).ok().filter(|moment| is_second && moment.year() >= 0)?;
    let dot = if fraction.is_empty() { "" } else { "." };
    Some(format!("{} {:02}:{:02}:{second:02}{dot}{fraction}", moment.date(), moment.hour(), moment.minute()))
}

/// The date of `YYYY-MM-DD`.
pub(crate) fn date_of(text: &str) -> Option<Date> {
    let [year, month, day] = numbers(text, '-', [4, 2, 2])?;
    Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()
}

/// The minutes of `+HH:MM` or `-HH:MM`.
pub(crate) fn offset_minutes(zone: &str) -> Option<i64> {
    let [hours, minutes] = numbers(zone.get(1..)?, ':', [2, 2])?.map(i64::from);
    let minutes = hours * 60 + minutes;
    Some(if zone.starts_with('-') { -minutes } else { minutes })
}

/// Numbers of so many digits, with a sign between them.
pub(crate) fn numbers<const N: usize>(text: &str, sign: char, lengths: [usize; N]) -> Option<[i16; N]> {
    let mut parts = text.split(sign);
    let mut numbers = [0; N];
    for (number, length) in numbers.iter_mut().zip(lengths) {
        let part = parts.next().filter(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_without_a_zone() {
        let cases = [
            ("2026-01-02T03:04:05Z", Some("2026-01-02 03:04:05")),
            ("2026-01-02T24:00:00Z", None),
            ("2026-01-02T03:60:00Z", None),
            ("2026-01-02T99:99:99Z", None),
            ("2026-01-02T03:04:05.123456789Z", Some("2026-01-02 03:04:05.123456")),
            ("2026-01-02T05:04:05.1+02:00", Some("2026-01-02 03:04:05.1")),
            ("2026-01-01T00:30:00+05:30", Some("2025-12-31 19:00:00")),
            ("2024-02-28T23:30:00-01:00", Some("2024-02-29 00:30:00")),
            ("2025-02-28T23:30:00-01:00", Some("2025-03-01 00:30:00")),
            ("2000-03-01T00:00:00+00:01", Some("2000-02-29 23:59:00")),
            ("1900-03-01T00:00:00+00:01", Some("1900-02-28 23:59:00")),
            ("9999-12-31T23:59:59-01:00", None),
            ("0000-01-01T00:00:00+01:00", None),
            ("2026-01-02T03:04:05", Some("2026-01-02 03:04:05")),
            ("2026-01-02 03:04:05", Some("2026-01-02 03:04:05")),
            ("2026-01-02", None),
            ("2026-13-02T03:04:05Z", None),
            ("2026-02-29T03:04:05Z", None),
            ("2026-01-02T03:04:60Z", Some("2026-01-02 03:04:60")),
            ("2026-01-02T03:04Z", None),
            ("2026-01-02T03:04:05.1x", None),
            ("2026-01-02T03:04:05+0200", None),
            ("+026-01-02T03:04:05Z", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(utc_text(text).as_deref(), expected, "{text}");
        }
    }
}
