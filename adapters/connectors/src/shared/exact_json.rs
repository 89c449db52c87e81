//! Numbers of JSON that a double does not hold become texts of their digits, before anything reads
//! them as doubles.
//!
//! So `9007199254740993` and `12345678901234567890.10` are texts with all of their digits, and
//! `1.5` and `7` are numbers. Zeros at the end of a fraction are not told apart: `1.50` is the
//! number 1.5.

use std::borrow::Cow;

use millrace_core::value::MAX_SAFE_INTEGER;

/// The most digits that tell a double from all others.
const MOST_DIGITS: usize = 17;

/// Puts those numbers in quotes. What is not JSON stays what it is.
pub(crate) fn exact_json(body: &[u8]) -> Cow<'_, [u8]> {
    quoted_unless(body, is_held)
}

/// Puts in quotes only the numbers that a number in memory does not hold: whole ones beyond 64
/// bits, those with more digits than any double, and those beyond its range.
pub(crate) fn readable_json(body: &[u8]) -> Cow<'_, [u8]> {
    quoted_unless(body, is_readable)
}

fn quoted_unless(body: &[u8], is_held: fn(&[u8]) -> bool) -> Cow<'_, [u8]> {
    let (mut written, mut copied, mut at) = (Vec::new(), 0, 0);
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => at = end_of_text(body, at + 1),
            b'-' | b'0'..=b'9' => {
                let length = body[at..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
                let token = &body[at..at + length];
                if is_json_number(token) && !is_held(token) {
                    written.extend_from_slice(&body[copied..at]);
                    written.push(b'"');
                    written.extend_from_slice(token);
                    written.push(b'"');
                    copied = at + length;
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(body);
    }
    written.extend_from_slice(&body[copied..]);
    Cow::Owned(written)
}

/// The place after the quote that ends a text.
fn end_of_text(body: &[u8], mut at: usize) -> usize {
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// Whether a text is a number of JSON.
pub(crate) fn is_json_number(token: &[u8]) -> bool {
    let rest = token.strip_prefix(b"-").unwrap_or(token);
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.first() == Some(&b'0')) {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let count = digits(exponent);
        if count == 0 {
            return false;
        }
        rest = &exponent[count..];
    }
    rest.is_empty()
}

/// Whether a number is one that every reader of JSON tells from its neighbours.
fn is_held(token: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(token) else { return false };
    if !text.contains(['.', 'e', 'E']) {
        return text.parse::<i64>().is_ok_and(|number| number.unsigned_abs() <= MAX_SAFE_INTEGER);
    }
    let Ok(double) = text.parse::<f64>() else { return false };
    double.is_finite() && Decimal::of(text).is_some_and(|decimal| Some(decimal) == Decimal::of(&format!("{double:e}")))
}

/// Whether a number is read as it is, or as the double that it was written of.
fn is_readable(token: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(token) else { return false };
    if !text.contains(['.', 'e', 'E']) {
        return text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    }
    text.parse::<f64>().is_ok_and(f64::is_finite)
        && Decimal::of(text).is_some_and(|decimal| decimal.digits.len() <= MOST_DIGITS && (decimal.digits.is_empty() || text.parse() != Ok(0.0)))
}

/// The digits of a number without zeros around them, and the power of ten of the last one.
#[derive(PartialEq)]
struct Decimal {
    digits: Vec<u8>,
    power: i64,
}

impl Decimal {
    fn of(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> =
            whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').collect();
        let mut power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        while digits.last() == Some(&b'0') {
            digits.pop();
            power = power.checked_add(1)?;
        }
        // Zero has no power.
        Some(Self { power: if digits.is_empty() { 0 } else { power }, digits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_number_holds_is_a_text() {
        for (json, expected) in [
            ("[9007199254740993, 18446744073709551615, -9223372036854775808, 0.10000000000000001, 1e300, 0.0, 1.50]", None),
            ("18446744073709551616", Some("\"18446744073709551616\"")),
            ("12345678901234567890.10", Some("\"12345678901234567890.10\"")),
            ("1e400", Some("\"1e400\"")),
            ("1e-400", Some("\"1e-400\"")),
        ] {
            assert_eq!(std::str::from_utf8(&readable_json(json.as_bytes())).unwrap(), expected.unwrap_or(json));
        }
    }

    #[test]
    fn what_a_double_does_not_hold_is_a_text() {
        for (json, expected) in [
            ("9007199254740991", None),
            ("-9007199254740991", None),
            ("9007199254740992", Some("\"9007199254740992\"")),
            ("-9223372036854775809", Some("\"-9223372036854775809\"")),
            ("[1.50, 0.1, 1e300, 0.30000000000000004, -0.0, 0e5, 100.0]", None),
            ("12345678901234567890.10", Some("\"12345678901234567890.10\"")),
            ("0.1000000000000000055511151231257827", Some("\"0.1000000000000000055511151231257827\"")),
            ("1e400", Some("\"1e400\"")),
            ("1e-400", Some("\"1e-400\"")),
            ("1e99999999999999999999", Some("\"1e99999999999999999999\"")),
            (
                r#"{"9007199254740993": "a\"9007199254740993", "b": 9007199254740993}"#,
                Some(r#"{"9007199254740993": "a\"9007199254740993", "b": "9007199254740993"}"#),
            ),
            (r#""\\", 9007199254740993"#, Some(r#""\\", "9007199254740993""#)),
            // No JSON, and none after it.
            ("09007199254740993", None),
            ("9007199254740993.", None),
            ("--9007199254740993", None),
            ("\"\\", None),
        ] {
            let found = exact_json(json.as_bytes());
            assert_eq!(std::str::from_utf8(&found).unwrap(), expected.unwrap_or(json));
        }
    }
}
