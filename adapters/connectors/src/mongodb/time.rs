//! Dates as text and as milliseconds since the Unix epoch, by [Hinnant's algorithms](https://howardhinnant.github.io/date_algorithms.html).

const DAY_MS: i64 = 86_400_000;

/// `2026-01-02T03:04:05.678Z`; a year beyond four digits has its sign and six, or as many as it needs.
pub(super) fn text_of(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let year = if (0..=9999).contains(&year) { format!("{year:04}") } else { format!("{year:+07}") };
    let (hour, minute, second, ms) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60, rest % 1_000);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The time of `YYYY-MM-DD`, with a time of day after `T` or a space, with an offset or in UTC. What is below a millisecond is cut off.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let lengths = [31, if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = lengths.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    if !(1..=*length).contains(&day) {
        return None;
    }
    let of_date = (days(year, month, day)) * DAY_MS;
    if time.is_empty() {
        return (!text.contains(['T', ' '])).then_some(of_date);
    }
    let (time, offset_ms) = match time.strip_suffix('Z') {
        Some(time) => (time, 0),
        None => match time.rfind(['+', '-']) {
            Some(at) => {
                let [hours, minutes] = numbers(&time[at + 1..], ':', [2, 2])?;
                let offset = (hours * 60 + minutes) * 60_000;
                (&time[..at], if time[at..].starts_with('-') { -offset } else { offset })
            }
            None => (time, 0),
        },
    };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    let ms = ((hour * 60 + minute) * 60 + second) * 1_000 + digits.parse::<i64>().ok()?;
    Some(of_date + ms - offset_ms)
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

/// Numbers of so many digits, with a sign between them.
fn numbers<const N: usize>(text: &str, sign: char, lengths: [usize; N]) -> Option<[i64; N]> {
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
