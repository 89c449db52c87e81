//! Dates as text and as milliseconds since the Unix epoch.

use jiff::{
    Timestamp,
    civil::{Date, date},
    tz::Offset,
};

use crate::shared::moment::{date_of, numbers, offset_minutes};

const EPOCH: Date = date(1970, 1, 1);
/// The calendar repeats itself after 400 years.
const CYCLE_YEARS: i64 = 400;
const CYCLE_MS: i64 = 146_097 * 86_400_000;

/// `2026-01-02T03:04:05.678Z`; a year beyond four digits has its sign and six, or as many as it
/// needs.
pub(super) fn text_of(ms: i64) -> String {
    // BSON has years that no calendar of a library has.
    let since = Timestamp::from_millisecond(ms.rem_euclid(CYCLE_MS)).unwrap_or_default();
    let moment = Offset::UTC.to_datetime(since);
    let year = i64::from(moment.year()) + ms.div_euclid(CYCLE_MS) * CYCLE_YEARS;
    let year = if (0..=9999).contains(&year) { format!("{year:04}") } else { format!("{year:+07}") };
    let (month, day, hour, minute, second) = (moment.month(), moment.day(), moment.hour(), moment.minute(), moment.second());
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", moment.millisecond())
}

/// The time of `YYYY-MM-DD`, with a time of day after `T` or a space, with an offset or in UTC.
/// What is below a millisecond is cut off.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', ' ']).map_or((text, None), |(date, time)| (date, Some(time)));
    let of_date = date_of(date)?.duration_since(EPOCH).as_secs() * 1_000;
    let Some(time) = time else { return Some(of_date) };
    let (time, offset) = match (time.strip_suffix('Z'), time.rfind(['+', '-'])) {
        (Some(time), _) => (time, 0),
        (None, Some(at)) => (&time[..at], offset_minutes(&time[at..])?),
        (None, None) => (time, 0),
    };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    let [hour, minute, second] = [hour, minute, second].map(i64::from);
    let of_time = ((hour * 60 + minute) * 60 + second) * 1_000 + digits.parse::<i64>().ok()?;
    Some(of_date + of_time - offset * 60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        for (text, ms) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2026-01-02T03:04:05.123Z", 1_767_323_045_123),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:00:00.000Z", 951_825_600_000),
            ("0001-01-01T00:00:00.000Z", -62_135_596_800_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] {
            assert_eq!((text_of(ms).as_str(), parse(text)), (text, Some(ms)));
        }
        assert_eq!(text_of(i64::MAX), "+292278994-08-17T07:12:55.807Z");
        assert_eq!(text_of(-62_167_219_200_001), "-000001-12-31T23:59:59.999Z");
        for (text, same) in [
            ("2026-01-02", "2026-01-02T00:00:00.000Z"),
            ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.123Z"),
            ("2026-01-02T03:04:05.1+02:30", "2026-01-02T00:34:05.100Z"),
            ("2026-01-02T03:04:05-01:00", "2026-01-02T04:04:05.000Z"),
        ] {
            assert_eq!(parse(text).map(text_of).as_deref(), Some(same), "{text}");
        }
        for text in
            ["", "x", "2026-13-01", "2026-02-29", "2026-00-01", "2026-01-00", "2026-01-02T", "2026-01-02T25:00:00Z", "2026-01-02T03:04"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
