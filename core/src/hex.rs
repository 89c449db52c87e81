//! Bytes as hexadecimal digits.

use alloc::{string::String, vec::Vec};

/// Two small digits for each byte.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

/// The bytes of an even number of digits, small or capital. `None` for anything else.
#[must_use]
pub fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    pairs.iter().map(|pair| byte(*pair)).collect()
}

/// The byte of two digits.
pub(crate) fn byte([high, low]: [u8; 2]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn bytes_are_written_and_read() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(encode(&all).as_bytes()), Some(all));
        assert_eq!((encode(&[0, 0xab, 255]).as_str(), decode(b"00ABff")), ("00abff", Some(vec![0, 0xab, 255])));
        assert_eq!(decode(b""), Some(vec![]));
        for wrong in ["0", "0g", "+1", " 1", "0x", "000"] {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
