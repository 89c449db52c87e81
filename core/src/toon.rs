//! JSON values as TOON, a notation that costs a model fewer tokens than JSON: lists of alike
//! objects become a table.
//!
//! The delimiter is `|`, the indentation two spaces. The form is that of version 2 of TOON's
//! specification: a table has only rows of primitive values, and an empty list has a header. What
//! later versions quote is quoted here, too, so that decoders of each of them read the same value
//! back.

use alloc::{format, string::String, vec::Vec};
use core::slice;

use serde_json::{Number, map};

use crate::{Json, hex};

const DELIMITER: char = '|';

/// The value as TOON, without a line end after the last line.
///
/// The empty object is the empty text. However deep the value is nested, the stack does not grow;
/// the text may be longer than JSON by the indentation of its lines, twice as many bytes as the
/// line is deep.
///
/// ```
/// use millrace_core::toon::toon;
/// let rows = serde_json::json!({"rows": [{"id": 1, "name": "a"}, {"id": 2, "name": "b|c"}]});
/// assert_eq!(toon(&rows), "rows[2|]{id|name}:\n  1|a\n  2|\"b|c\"");
/// ```
#[must_use]
pub fn toon(value: &Json) -> String {
    let mut out = String::new();
    let mut open = Vec::new();
    match value {
        Json::Object(members) => open.push(Open::Members { members: members.iter(), depth: 0, in_item: false }),
        Json::Array(elements) => open.extend(push_list(&mut out, elements, 1, true)),
        primitive => push_primitive(&mut out, primitive),
    }
    while let Some(last) = open.last_mut() {
        let inner = match last {
            Open::Members { members, depth, in_item } => members.next().map(|(key, value)| {
                if !core::mem::take(in_item) {
                    begin_line(&mut out, *depth);
                }
                push_member(&mut out, key, value, *depth + 1)
            }),
            Open::Items { items, depth } => items.next().map(|item| {
                begin_line(&mut out, *depth);
                push_item(&mut out, item, *depth + 1)
            }),
        };
        match inner {
            None => drop(open.pop()),
            Some(inner) => open.extend(inner),
        }
    }
    out
}

/// What is written in part.
enum Open<'a> {
    /// The members of an object, each on a line of this depth. The first one of an item of a list
    /// is on the item's line.
    Members { members: map::Iter<'a>, depth: usize, in_item: bool },
    /// The items of a list, each on a line of this depth.
    Items { items: slice::Iter<'a, Json>, depth: usize },
}

/// Appends a member, up to what is in lines of its own: these are returned, with the depth
/// `deeper`.
fn push_member<'a>(out: &mut String, key: &str, value: &'a Json, deeper: usize) -> Option<Open<'a>> {
    push_key(out, key);
    match value {
        Json::Array(elements) => push_list(out, elements, deeper, true),
        Json::Object(members) => {
            out.push(':');
            Some(Open::Members { members: members.iter(), depth: deeper, in_item: false })
        }
        primitive => {
            out.push_str(": ");
            push_primitive(out, primitive);
            None
        }
    }
}

/// Appends an item of a list, up to what is in lines of its own.
fn push_item<'a>(out: &mut String, item: &'a Json, deeper: usize) -> Option<Open<'a>> {
    out.push('-');
    match item {
        Json::Object(members) if members.is_empty() => None,
        Json::Object(members) => {
            out.push(' ');
            Some(Open::Members { members: members.iter(), depth: deeper, in_item: true })
        }
        Json::Array(elements) => {
            out.push(' ');
            // A header without a key has no columns within a list: decoders would read them as the
            // key of an object.
            push_list(out, elements, deeper, false)
        }
        primitive => {
            out.push(' ');
            push_primitive(out, primitive);
            None
        }
    }
}

/// Appends the header of a list, and the list itself where it fits the line or is a table.
fn push_list<'a>(out: &mut String, elements: &'a [Json], depth: usize, may_be_table: bool) -> Option<Open<'a>> {
    push_number(out, &elements.len().into(), "[", "|]");
    if elements.iter().all(is_primitive) {
        out.push(':');
        for (index, element) in elements.iter().enumerate() {
            out.push(if index == 0 { ' ' } else { DELIMITER });
            push_primitive(out, element);
        }
        return None;
    }
    let Some(first) = may_be_table.then(|| columns(elements)).flatten() else {
        out.push(':');
        return Some(Open::Items { items: elements.iter(), depth });
    };
    out.push('{');
    for (index, key) in first.keys().enumerate() {
        if index > 0 {
            out.push(DELIMITER);
        }
        push_key(out, key);
    }
    out.push_str("}:");
    for row in elements.iter().filter_map(Json::as_object) {
        begin_line(out, depth);
        for (index, key) in first.keys().enumerate() {
            if index > 0 {
                out.push(DELIMITER);
            }
            push_primitive(out, row.get(key).unwrap_or(&Json::Null));
        }
    }
    None
}

/// The first row, if each element is an object with its keys, in any order, and primitive values.
fn columns(elements: &[Json]) -> Option<&map::Map<String, Json>> {
    let first = elements.first()?.as_object().filter(|first| !first.is_empty())?;
    let fits = |element: &Json| {
        element
            .as_object()
            .is_some_and(|row| row.len() == first.len() && row.iter().all(|(key, value)| is_primitive(value) && first.contains_key(key)))
    };
    elements.iter().all(fits).then_some(first)
}

fn is_primitive(value: &Json) -> bool {
    !value.is_array() && !value.is_object()
}

fn begin_line(out: &mut String, depth: usize) {
    if !out.is_empty() {
        out.push('\n');
    }
    for _ in 0..depth {
        out.push_str("  ");
    }
}

fn push_key(out: &mut String, key: &str) {
    let is_plain = key.bytes().enumerate().all(|(index, byte)| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => true,
        b'0'..=b'9' | b'.' => index > 0,
        _ => false,
    });
    if is_plain && !key.is_empty() { out.push_str(key) } else { push_quoted(out, key) }
}

fn push_primitive(out: &mut String, value: &Json) {
    match value {
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => push_number(out, number, "", ""),
        Json::String(text) if is_plain(text) => out.push_str(text),
        Json::String(text) => push_quoted(out, text),
        // No list or object comes here.
        Json::Null | Json::Array(_) | Json::Object(_) => out.push_str("null"),
    }
}

/// Whether a text reads back as itself without quotes.
fn is_plain(text: &str) -> bool {
    let is_structural = |byte: u8| matches!(byte, 0..0x20 | b':' | b'"' | b'\\' | b'[' | b']' | b'{' | b'}' | b'|');
    !matches!(text, "" | "true" | "false" | "null")
        && !text.starts_with(['-', '#', '\u{feff}'])
        && !text.ends_with('\u{feff}')
        && text.trim().len() == text.len()
        && !text.bytes().any(is_structural)
        && !is_numeric(text)
}

/// Whether a decoder might take the text for a number: `12`, `+1`, `05`, `1e5`, but not `1.` or
/// `.5`.
fn is_numeric(text: &str) -> bool {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    [whole, fraction, exponent].iter().all(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' => {
                out.push_str("\\u00");
                out.push_str(&hex::encode(&[character as u8]));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Appends a number as JavaScript writes it: `1.0` is `1`, `-0.0` is `0`, and exponents are for
/// what is at least 1e21 or smaller than 1e-6.
fn push_number(out: &mut String, number: &Number, before: &str, after: &str) {
    out.push_str(before);
    // `1.0`, `1.5e-7`, `1e+21`: the shortest digits that read back as the same number.
    let text = format!("{number}");
    if number.is_f64() {
        push_float(out, &text)
    } else {
        out.push_str(&text)
    }
    out.push_str(after);
}

fn push_float(out: &mut String, text: &str) {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    let digits = significant.trim_end_matches('0');
    let Ok(exponent) = exponent.parse::<i32>() else { return out.push_str(text) };
    // How many digits are before the point: 0 for 0.1, −1 for 0.01.
    let count = |digits: &str| i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + count(whole) - (count(&all) - count(significant));
    if digits.is_empty() {
        return out.push('0');
    }
    if unsigned.len() < text.len() {
        out.push('-');
    }
    let zeros = |out: &mut String, count: i32| (0..count).for_each(|_| out.push('0'));
    match usize::try_from(point) {
        Ok(before @ 1..=21) => match digits.split_at_checked(before) {
            Some((whole, "")) => out.push_str(whole),
            Some((whole, fraction)) => out.extend([whole, ".", fraction]),
            None => {
                out.push_str(digits);
                zeros(out, point - count(digits));
            }
        },
        _ if (-5..=0).contains(&point) => {
            out.push_str("0.");
            zeros(out, -point);
            out.push_str(digits);
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            out.extend([first, if rest.is_empty() { "" } else { "." }, rest]);
            out.push_str(&format!("e{:+}", point - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use serde_json::json;

    use super::*;

    #[test]
    fn values_as_toon() {
        for (value, expected) in [
            (json!([{"id": 1, "n": "a"}, {"id": 2, "n": "b|c"}]), "[2|]{id|n}:\n  1|a\n  2|\"b|c\""),
            (json!({"id": 1, "name": "Alice", "active": true, "x": null}), "id: 1\nname: Alice\nactive: true\nx: null"),
            (json!([1, 2, 3]), "[3|]: 1|2|3"),
            (json!(["a", "b c", "d|e", "true", "12", ""]), "[6|]: a|b c|\"d|e\"|\"true\"|\"12\"|\"\""),
            (json!([]), "[0|]:"),
            (json!({}), ""),
            (json!({"a": []}), "a[0|]:"),
            (json!({"a": {"b": {"c": 1}}}), "a:\n  b:\n    c: 1"),
            (json!([{"id": 1}, {"name": "x"}]), "[2|]:\n  - id: 1\n  - name: x"),
            (json!([[1, 2], [3]]), "[2|]:\n  - [2|]: 1|2\n  - [1|]: 3"),
            (json!({"users": [{"id": 1, "n": "A"}], "total": 1}), "users[1|]{id|n}:\n  1|A\ntotal: 1"),
            (json!(["a\nb", "a\"b", " a", "-x"]), "[4|]: \"a\\nb\"|\"a\\\"b\"|\" a\"|\"-x\""),
            // Primitive values alone.
            (json!("x y"), "x y"),
            (json!(""), "\"\""),
            (json!(null), "null"),
            (json!(false), "false"),
            // Keys of another order: the first row's.
            (json!([{"a": 1, "b": 2}, {"b": 3, "a": 4}]), "[2|]{a|b}:\n  1|2\n  4|3"),
            // As many keys, but others.
            (json!([{"a": 1, "b": 2}, {"b": 3, "c": 4}]), "[2|]:\n  - a: 1\n    b: 2\n  - b: 3\n    c: 4"),
            (json!([{"a": 1}, {"a": [1]}]), "[2|]:\n  - a: 1\n  - a[1|]: 1"),
            (json!([{"a": {"x": 1}}, {"a": {"x": 2}}]), "[2|]:\n  - a:\n      x: 1\n  - a:\n      x: 2"),
            (json!([{}, {}]), "[2|]:\n  -\n  -"),
            (json!([{}, {"a": {}}, null, "-"]), "[4|]:\n  -\n  - a:\n  - null\n  - \"-\""),
            // What follows a nested value is at the depth of its object again.
            (
                json!([{"id": 1, "rows": [{"x": 1, "y": 2}], "list": [{"x": [1]}, [{"x": 1}], []], "end": 0}]),
                "[1|]:\n  - id: 1\n    rows[1|]{x|y}:\n      1|2\n    list[3|]:\n      - x[1|]: 1\n      - [1|]:\n        - x: 1\n      \
                 - [0|]:\n    end: 0",
            ),
            (json!([{"rows": [{"x": 1}], "end": 0}, 1]), "[2|]:\n  - rows[1|]{x}:\n      1\n    end: 0\n  - 1"),
            (json!({"a": {}, "b": {"c": {}}, "d": 1}), "a:\nb:\n  c:\nd: 1"),
        ] {
            assert_eq!(toon(&value), expected, "{value}");
        }
    }

    #[test]
    fn keys_are_quoted_unless_they_are_names() {
        for (key, expected) in [
            ("a_B.c1", "a_B.c1"),
            ("_", "_"),
            ("true", "true"),
            ("", "\"\""),
            ("1", "\"1\""),
            (".a", "\".a\""),
            ("a b", "\"a b\""),
            ("a-b", "\"a-b\""),
            ("a|b", "\"a|b\""),
            ("ä", "\"ä\""),
            ("a\nb", "\"a\\nb\""),
        ] {
            assert_eq!(toon(&json!({key: 1})), alloc::format!("{expected}: 1"));
            assert_eq!(toon(&json!({key: []})), alloc::format!("{expected}[0|]:"));
            assert_eq!(toon(&json!([{key: 1, "z": 2}])), alloc::format!("[1|]{{{expected}|z}}:\n  1|2"));
        }
    }

    #[test]
    fn text_that_would_read_as_something_else_is_quoted() {
        let quoted = [
            "",
            "true",
            "false",
            "null",
            "0",
            "12",
            "-1",
            "+1",
            "05",
            "1.50",
            "1e5",
            "1E+5",
            "2e-3",
            "-x",
            "- x",
            "#x",
            "a:b",
            "a[0]",
            "{a}",
            "a|b",
            " a",
            "a ",
            "\u{a0}a",
            "\u{feff}a",
        ];
        for text in quoted {
            assert_eq!(toon(&json!(text)), alloc::format!("\"{text}\""));
        }
        for text in [
            "True",
            "NULL",
            "1.",
            ".5",
            "1e",
            "0x10",
            "1_0",
            "1.2.3",
            "2026-01-02",
            "a,b",
            "x-1",
            "a#",
            "(a)",
            "é",
            "a\u{7f}",
            "a\u{2028}b",
        ] {
            assert_eq!(toon(&json!(text)), text);
        }
        assert_eq!(toon(&json!("\\ \" \n \r \t \u{8} \u{c} \0 \u{1f}")), r#""\\ \" \n \r \t \u0008 \u000c \u0000 \u001f""#);
    }

    #[test]
    fn numbers_are_those_of_javascript() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (100.0, "100"),
            (1234.5, "1234.5"),
            (0.1, "0.1"),
            (0.000_001, "0.000001"),
            (0.000_001_5, "0.0000015"),
            (0.000_000_1, "1e-7"),
            (-1.25e-7, "-1.25e-7"),
            (1e16, "10000000000000000"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.25e22, "1.25e+22"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(toon(&json!(number)), expected);
        }
        assert_eq!(toon(&json!([i64::MIN, u64::MAX])), "[2|]: -9223372036854775808|18446744073709551615");
    }

    #[test]
    fn numbers_read_back_as_themselves() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            for float in [f64::from_bits(bits), (bits % 10_000_000) as f64 / 1000.0] {
                if float.is_finite() {
                    assert_eq!(toon(&json!(float)).parse(), Ok(float));
                }
            }
        }
    }

    /// What is nested deeper than any stack would bear.
    #[test]
    fn the_stack_does_not_grow_with_the_value() {
        let mut value = json!([1]);
        for _ in 0..5_000 {
            value = Json::Array(vec![value]);
        }
        let text = toon(&value);
        assert_eq!(text.lines().count(), 5_001);
        assert!(text.starts_with("[1|]:\n  - [1|]:\n    - [1|]:\n"), "{}", &text[..60]);
        assert!(text.ends_with("- [1|]: 1"), "{}", text.len().to_string());
        // Dropping it would take the stack that writing it does not.
        while let Json::Array(mut inner) = value {
            value = inner.pop().unwrap_or_default();
        }
    }
}
