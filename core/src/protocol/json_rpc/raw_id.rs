//! Ids beyond 64 bits.
//!
//! JSON-RPC's integers have no bound, and an id must come back as it was sent. The parser turns an
//! integer that fits no 64-bit type into a float; here the digits are looked up in the text.
//! (`serde_json`'s `raw_value` would keep them, and would also give a meaning to a member name that
//! any caller can send.)

use alloc::{string::String, vec::Vec};

/// The numbers that stand as `id` of a message, each with the message's place.
pub(super) fn numbers(text: &str) -> Vec<(usize, &str)> {
    let bytes = text.as_bytes();
    let message_depth = if text.trim_start().starts_with('[') { 2 } else { 1 };
    let mut numbers = Vec::new();
    let (mut place, mut depth, mut at) = (0, 0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b',' if depth + 1 == message_depth => place += 1,
            b'"' => {
                let end = end_of_string(bytes, at);
                let value = skip_blanks(bytes, skip_blanks(bytes, end) + 1);
                let is_name = bytes.get(skip_blanks(bytes, end)) == Some(&b':');
                if depth == message_depth && is_name && is_id(&text[at..end]) {
                    let length = bytes[value..].iter().take_while(|byte| is_of_number(**byte)).count();
                    if length > 0 {
                        numbers.push((place, &text[value..value + length]));
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    numbers
}

/// The place after the closing quote of the string that opens at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn skip_blanks(bytes: &[u8], start: usize) -> usize {
    start + bytes.iter().skip(start).take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Whether a quoted name says `id`, escapes undone.
fn is_id(quoted: &str) -> bool {
    serde_json::from_str::<String>(quoted).is_ok_and(|name| name == "id")
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn finds_the_ids_of_messages_only() {
        let cases: [(&str, &[(usize, &str)]); 7] = [
            (r#"{"id": 123456789012345678901234567890}"#, &[(0, "123456789012345678901234567890")]),
            (r#"{"params":{"id":1},"i\u0064" : -7 }"#, &[(0, "-7")]),
            (r#"{"a":"id","b":["id",{"id":3}],"id":"x"}"#, &[]),
            (r#"{"a\"":"\\","id":1e3}"#, &[(0, "1e3")]),
            (r#" [1,{"id":2},[{"id":3}],{"x":[1,2],"id":4}]"#, &[(1, "2"), (3, "4")]),
            (r#"[]"#, &[]),
            ("{\"id\"\n:\t5\n}", &[(0, "5")]),
        ];
        for (text, expected) in cases {
            assert_eq!(numbers(text), expected, "{text}");
        }
    }
}
