//! Moments as databases without zones read them.

/// `2026-01-02T05:04:05.1+02:00` as `2026-01-02 03:04:05.1`: servers that keep no zone read no offset, and no `Z`. What is below a
/// microsecond is left out. `None` for another form.
pub(crate) fn utc_text(text: &str) -> Option<String> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(at);
    let offset = match zone {
        "" => 0,
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let minutes = number(hours, 2)? * 60 + number(minutes, 2)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let (time, fraction) = time.split_once('.').map_or((time, ""), |(time, fraction)| (time, fraction));
    let fraction = fraction.get(..6).unwrap_or(fraction);
    let [year, month, day] = parts(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = parts(time, ':', [2, 2, 2])?;
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    if !in_range || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let minutes = days(year, month, day) * 1440 + hour * 60 + minute - offset;
    let (year, month, day) = date_of(minutes.div_euclid(1440));
    let minutes = minutes.rem_euclid(1440);
    let dot = if fraction.is_empty() { "" } else { "." };
    (0..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{second:02}{dot}{fraction}", minutes / 60, minutes % 60))
}

fn number(digits: &str, length: usize) -> Option<i64> {
    let is_one = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_one)
}

fn parts(text: &str, sign: char, lengths: [usize; 3]) -> Option<[i64; 3]> {
    let mut found = [0; 3];
    let mut parts = text.split(sign);
    for (place, length) in found.iter_mut().zip(lengths) {
        *place = number(parts.next()?, length)?;
    }
    parts.next().is_none().then_some(found)
}

/// Days since 0000-03-01 of the proleptic Gregorian calendar.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day - 1
}

/// The date of [`days`].
const fn date_of(days: i64) -> (i64, i64, i64) {
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_without_a_zone() {
        let cases = [
            ("2026-01-02T03:04:05Z", Some("2026-01-02 03:04:05")),
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
            ("2026-01-02T03:04Z", None),
            ("2026-01-02T03:04:05.1x", None),
            ("2026-01-02T03:04:05+0200", None),
            ("+026-01-02T03:04:05Z", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(utc_text(text).as_deref(), expected, "{text}");
        }
        for day in (0..4_000_000).step_by(13) {
            let (year, month, date) = date_of(day);
            assert_eq!(days(year, month, date), day);
        }
    }
}
