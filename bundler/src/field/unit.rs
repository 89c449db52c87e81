//! Amounts with units.

/// Milliseconds of `500ms`, `5s`, `2m`, `1h`; `None` where it is none, or more than `u32`
/// milliseconds.
pub(crate) fn duration_ms(text: &str) -> Option<u32> {
    amount(text, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)])
}

/// Bytes of `4096`, `256kb`, `1mb`: a kilobyte has 1024; `None` where it is none, or more than
/// `u32` bytes.
pub(crate) fn size_bytes(text: &str) -> Option<u32> {
    amount(text, &[("kb", 1 << 10), ("mb", 1 << 20), ("gb", 1 << 30), ("b", 1), ("", 1)])
}

fn amount(text: &str, units: &[(&str, u32)]) -> Option<u32> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor = units.iter().find(|(name, _)| *name == unit.trim_start())?.1;
    number.parse::<u32>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_amounts() {
        let durations = [
            ("500ms", Some(500)),
            ("5s", Some(5_000)),
            ("2 m", Some(120_000)),
            ("5", None),
            ("-5s", None),
            ("5d", Some(432_000_000)),
            ("5w", None),
            ("9999h", None),
            ("s", None),
        ];
        for (text, expected) in durations {
            assert_eq!(duration_ms(text), expected, "{text}");
        }
        let sizes = [("1mb", Some(1 << 20)), ("256KB", Some(256 << 10)), ("17", Some(17)), ("4gb", None), ("1.5mb", None), ("", None)];
        for (text, expected) in sizes {
            assert_eq!(size_bytes(text), expected, "{text}");
        }
    }
}
