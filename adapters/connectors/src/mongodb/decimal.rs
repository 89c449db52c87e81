//! Decimal128 of [IEEE
//! 754-2008](https://github.com/mongodb/specifications/blob/master/source/bson-decimal128/decimal128.md),
//! in the binary form of its digits: 34 digits and an exponent from -6176 to 6111.

/// The least exponent, which is stored as 0.
const BIAS: i32 = 6176;
const MAX_EXPONENT: i32 = 6111;
/// 10^34 - 1
const MAX_DIGITS: u128 = 9_999_999_999_999_999_999_999_999_999_999_999;

/// A number as text: its digits as they were stored, so that `1.50` is not `1.5`.
pub(super) fn text_of(bytes: [u8; 16]) -> String {
    let bits = u128::from_le_bytes(bytes);
    let sign = if bits >> 127 == 1 { "-" } else { "" };
    let high = (bits >> 122) & 0b1_1111;
    if high == 0b1_1111 {
        return "NaN".to_owned();
    }
    if high == 0b1_1110 {
        return format!("{sign}Infinity");
    }
    // Where the two highest bits are set, the digits would be more than 34: such a number is 0.
    let (exponent, digits) =
        if (bits >> 125) & 0b11 == 0b11 { ((bits >> 111) & 0x3fff, 0) } else { ((bits >> 113) & 0x3fff, bits & ((1 << 113) - 1)) };
    let digits = if digits > MAX_DIGITS { 0 } else { digits };
    let exponent = i32::try_from(exponent).unwrap_or_default() - BIAS;
    let mut text = digits.to_string();
    let count = i32::try_from(text.len()).unwrap_or_default();
    let scientific = exponent + count - 1;
    if exponent > 0 || scientific < -6 {
        if text.len() > 1 {
            text.insert(1, '.');
        }
        return format!("{sign}{text}E{scientific:+}");
    }
    if exponent < 0 {
        let point = count + exponent;
        match usize::try_from(point) {
            Ok(point @ 1..) => text.insert(point, '.'),
            _ => text = format!("0.{}{text}", "0".repeat(usize::try_from(-point).unwrap_or_default())),
        }
    }
    format!("{sign}{text}")
}

/// The number of a text; `None` where it is none, or has no place without rounding.
pub(super) fn parse(text: &str) -> Option<[u8; 16]> {
    let (is_negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let sign = u128::from(is_negative) << 127;
    match rest.to_ascii_lowercase().as_str() {
        "nan" => return Some((0b1_1111_u128 << 122).to_le_bytes()),
        "inf" | "infinity" => return Some((sign | 0b1_1110_u128 << 122).to_le_bytes()),
        _ => {}
    }
    let (number, exponent) = match rest.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok().filter(|exponent| exponent.abs() < 100_000)?),
        None => (rest, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let mut exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let written = format!("{whole}{fraction}");
    let mut written = written.trim_start_matches('0');
    while written.len() > 34 && written.ends_with('0') {
        written = &written[..written.len() - 1];
        exponent += 1;
    }
    if written.len() > 34 {
        return None;
    }
    let mut digits: u128 = if written.is_empty() { 0 } else { written.parse().ok()? };
    while exponent > MAX_EXPONENT && digits != 0 && digits <= MAX_DIGITS / 10 {
        digits *= 10;
        exponent -= 1;
    }
    while exponent < -BIAS && digits != 0 && digits.is_multiple_of(10) {
        digits /= 10;
        exponent += 1;
    }
    if digits == 0 {
        exponent = exponent.clamp(-BIAS, MAX_EXPONENT);
    }
    if !(-BIAS..=MAX_EXPONENT).contains(&exponent) {
        return None;
    }
    let stored = u128::try_from(exponent + BIAS).ok()?;
    Some((sign | stored << 113 | digits).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        for text in [
            "0",
            "-0",
            "0.00",
            "1.50",
            "-1.5",
            "12345678901234567890.10",
            "9999999999999999999999999999999999",
            "0.000001",
            "1E-7",
            "1.23E+5",
            "9.999999999999999999999999999999999E+6144",
            "1E-6176",
            "NaN",
            "Infinity",
            "-Infinity",
        ] {
            assert_eq!(parse(text).map(text_of).as_deref(), Some(text));
        }
        for (text, expected) in [("+1", "1"), ("1e3", "1E+3"), (".5", "0.5"), ("5.", "5"), ("00012", "12"), ("1E6112", "1.0E+6112")] {
            assert_eq!(parse(text).map(text_of).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_would_be_rounded_is_refused() {
        for text in
            ["", ".", "-", "1e", "e1", "1.2.3", "0x1", " 1", "12345678901234567890123456789012345", "1E7000", "1E-7000", "1e99999999999"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        // The specification's bytes of 1, 0.1 and -1.
        assert_eq!(parse("1"), Some(0x3040_0000_0000_0000_0000_0000_0000_0001_u128.to_le_bytes()));
        assert_eq!(parse("0.1"), Some(0x303e_0000_0000_0000_0000_0000_0000_0001_u128.to_le_bytes()));
        assert_eq!(parse("-1"), Some(0xb040_0000_0000_0000_0000_0000_0000_0001_u128.to_le_bytes()));
    }
}
