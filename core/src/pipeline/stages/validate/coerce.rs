//! A value as sent → a value of the declared type, where nothing is lost.

use alloc::string::String;

use serde_json::Number;

use crate::{Json, app::InputKind, formats, strict};

/// The greatest integer that a JSON number carries without doubt: beyond it a sender that counts in
/// doubles has rounded already.
const MAX_EXACT: u64 = 1 << 53;

/// A value that does not have the type.
#[derive(Debug, PartialEq)]
pub(super) struct CoercionError {
    pub(super) value: Json,
    pub(super) problem: &'static str,
    /// Ends the message; begins with a space where there is one.
    pub(super) hint: &'static str,
}

const INVALID_TYPE: &str = "Invalid type";
const INVALID_VALUE: &str = "Invalid value";
pub(super) const TOO_LARGE: &str = "Too large to be exact";
pub(super) const AS_STRING: &str = " Send an integer beyond 9007199254740992 as a string.";

pub(super) fn coerce(kind: InputKind, value: Json) -> Result<Json, CoercionError> {
    let coerced = match (kind, &value) {
        (InputKind::Json, _)
        | (InputKind::String, Json::String(_))
        | (InputKind::Boolean, Json::Bool(_))
        | (InputKind::Array, Json::Array(_))
        | (InputKind::Object, Json::Object(_)) => return Ok(value),
        (InputKind::Int, Json::Number(number)) => int_of_number(number),
        (InputKind::Int, Json::String(text)) => int_of_text(text),
        (InputKind::Float, Json::Number(number)) => float_of_number(number),
        (InputKind::Float, Json::String(text)) => float_of_text(text),
        (InputKind::Boolean, Json::String(text)) => boolean_of_text(text),
        (InputKind::Boolean, Json::Number(number)) => boolean_of_number(number),
        (InputKind::Datetime, Json::String(text)) => {
            verbatim(&value, formats::is_datetime(text), " Write it as RFC 3339, YYYY-MM-DD or YYYY-MM-DD HH:MM:SS.")
        }
        (InputKind::Date, Json::String(text)) => verbatim(&value, formats::is_date(text), " Write it as YYYY-MM-DD."),
        (InputKind::Uuid, Json::String(text)) => verbatim(&value, formats::is_uuid(text), " Write it as 8-4-4-4-12 hexadecimal digits."),
        (InputKind::Array, Json::String(_)) => Err((INVALID_TYPE, " Send a JSON array.")),
        (InputKind::Object, Json::String(_)) => Err((INVALID_TYPE, " Send a JSON object.")),
        _ => Err((INVALID_TYPE, "")),
    };
    coerced.map_err(|(problem, hint)| CoercionError { value, problem, hint })
}

/// The list or the object that a text is, where its place takes nothing else; the text itself where
/// it is neither. `within` says how many lists and objects of the message the value stands in.
pub(super) fn of_text(kind: InputKind, text: String, within: usize) -> Json {
    match (kind, strict::parse(&text, within)) {
        (InputKind::Array, Some(list @ Json::Array(_))) => list,
        (InputKind::Object, Some(object @ Json::Object(_))) => object,
        _ => Json::String(text),
    }
}

type CoercionResult = Result<Json, (&'static str, &'static str)>;

fn int_of_number(number: &Number) -> CoercionResult {
    let exact = |magnitude: u64| magnitude <= MAX_EXACT;
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(integer), _, _) if exact(integer.unsigned_abs()) => Ok(integer.into()),
        (None, None, Some(float)) if float == (float as i64) as f64 && exact((float as i64).unsigned_abs()) => Ok((float as i64).into()),
        (None, None, Some(float)) if float.abs() < MAX_EXACT as f64 => Err(("Not a whole number", "")),
        _ => Err((TOO_LARGE, AS_STRING)),
    }
}

fn int_of_text(text: &str) -> CoercionResult {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err((INVALID_TYPE, ""));
    }
    text.parse::<i64>().map(Json::from).map_err(|_| ("Out of range", " It must fit in 64 bits."))
}

fn float_of_number(number: &Number) -> CoercionResult {
    let lossless = match (number.as_i128(), number.as_f64()) {
        (Some(integer), Some(float)) => float as i128 == integer,
        _ => true,
    };
    if lossless { Ok(Json::Number(number.clone())) } else { Err((TOO_LARGE, "")) }
}

/// Whether a number is what was sent: a float, or an integer that every double can hold.
pub(super) fn is_exact(number: &Number) -> bool {
    let exact = |magnitude: u64| magnitude <= MAX_EXACT;
    number.as_i64().map(|integer| exact(integer.unsigned_abs())).or_else(|| number.as_u64().map(exact)).unwrap_or(true)
}

fn float_of_text(text: &str) -> CoercionResult {
    // Rust reads `inf` and `nan`, too; a decimal number has nothing but these.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')) {
        return Err((INVALID_TYPE, ""));
    }
    let float = text.parse::<f64>().map_err(|_| (INVALID_TYPE, ""))?;
    Number::from_f64(float).map(Json::Number).ok_or(("Out of range", " It must fit in a double."))
}

fn boolean_of_text(text: &str) -> CoercionResult {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Json::Bool(true)),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Json::Bool(false)),
        _ => Err((INVALID_TYPE, "")),
    }
}

fn boolean_of_number(number: &Number) -> CoercionResult {
    match number.as_f64() {
        Some(1.0) => Ok(Json::Bool(true)),
        Some(0.0) => Ok(Json::Bool(false)),
        _ => Err((INVALID_TYPE, "")),
    }
}

fn verbatim(value: &Json, valid: bool, hint: &'static str) -> CoercionResult {
    if valid { Ok(value.clone()) } else { Err((INVALID_VALUE, hint)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn coercions() {
        use InputKind::{Array, Boolean, Date, Datetime, Float, Int, Object, String as Text, Uuid};
        let same = |value: Json| (value.clone(), Some(value));
        let table = [
            (Text, same(json!("x"))),
            (Text, (json!(5), None)),
            (Text, (json!(true), None)),
            (Int, same(json!(42))),
            (Int, (json!("42"), Some(json!(42)))),
            (Int, (json!("-42"), Some(json!(-42)))),
            (Int, (json!("+42"), Some(json!(42)))),
            (Int, (json!("007"), Some(json!(7)))),
            (Int, (json!(3.0), Some(json!(3)))),
            (Int, (json!(-0.0), Some(json!(0)))),
            (Int, (json!(1e15), Some(json!(1_000_000_000_000_000_i64)))),
            (Int, (json!(3.9), None)),
            (Int, (json!(1e300), None)),
            (Int, same(json!(9_007_199_254_740_992_i64))),
            (Int, (json!(9_007_199_254_740_993_i64), None)),
            (Int, (json!(-9_007_199_254_740_993_i64), None)),
            (Int, (json!(u64::MAX), None)),
            (Int, (json!(i64::MIN), None)),
            (Int, (json!("9223372036854775807"), Some(json!(i64::MAX)))),
            (Int, (json!("-9223372036854775808"), Some(json!(i64::MIN)))),
            (Int, (json!("9223372036854775808"), None)),
            (Int, (json!("4.0"), None)),
            (Int, (json!(" 4"), None)),
            (Int, (json!("0x10"), None)),
            (Int, (json!("+"), None)),
            (Int, (json!(""), None)),
            (Int, (json!(true), None)),
            (Int, (json!([1]), None)),
            (Float, same(json!(1.5))),
            (Float, same(json!(3))),
            (Float, (json!("1.5e3"), Some(json!(1500.0)))),
            (Float, (json!(9_007_199_254_740_993_i64), None)),
            (Float, (json!(u64::MAX), None)),
            (Float, (json!("NaN"), None)),
            (Float, (json!("inf"), None)),
            (Float, (json!("1e999"), None)),
            (Float, (json!("0x1p3"), None)),
            (Float, (json!("."), None)),
            (Float, (json!(""), None)),
            (Boolean, same(json!(false))),
            (Boolean, (json!("T"), Some(json!(true)))),
            (Boolean, (json!("False"), Some(json!(false)))),
            (Boolean, (json!("1"), Some(json!(true)))),
            (Boolean, (json!(0), Some(json!(false)))),
            (Boolean, (json!(1.0), Some(json!(true)))),
            (Boolean, (json!(2), None)),
            (Boolean, (json!("yes"), None)),
            (Boolean, (json!("tRUE"), None)),
            (Datetime, same(json!("2026-02-28T23:59:59.123456789+05:30"))),
            (Datetime, same(json!("2026-02-28"))),
            (Datetime, same(json!("2026-02-28T23:59:59"))),
            (Datetime, same(json!("2026-02-28 23:59:59.5+00"))),
            (Datetime, (json!("2026-02-29"), None)),
            (Datetime, (json!(0), None)),
            (Date, same(json!("2024-02-29"))),
            (Date, (json!("2024-02-29T00:00:00Z"), None)),
            (Uuid, same(json!("123E4567-e89b-12d3-a456-426614174000"))),
            (Uuid, (json!("123e4567e89b12d3a456426614174000"), None)),
            (Array, same(json!([1, "a"]))),
            (Array, (json!("[1]"), None)),
            (Object, same(json!({"a": 1}))),
            (Object, (json!([]), None)),
            (InputKind::Json, same(json!([{"a": null}]))),
        ];
        for (kind, (value, expected)) in table {
            assert_eq!(coerce(kind, value.clone()).ok(), expected, "{value} as {kind:?}");
        }
    }

    #[test]
    fn lists_and_objects_as_text() {
        use InputKind::{Array, Object};
        let text = |text: &str| json!(text);
        let table = [
            (Array, "[1, \"a\", null]", json!([1, "a", null])),
            (Array, " [] ", json!([])),
            (Array, "{\"a\":1}", text("{\"a\":1}")),
            (Array, "[1", text("[1")),
            (Array, "1,2", text("1,2")),
            (Array, "\"[1]\"", text("\"[1]\"")),
            (Array, "null", text("null")),
            (Object, "{\"a\":{\"b\":[1]}}", json!({"a": {"b": [1]}})),
            (Object, "{}", json!({})),
            (Object, "[]", text("[]")),
            (Object, "{\"a\":1,\"a\":2}", text("{\"a\":1,\"a\":2}")),
            (Object, "", text("")),
        ];
        for (kind, sent, expected) in table {
            assert_eq!(of_text(kind, sent.into(), 3), expected, "{sent} as {kind:?}");
        }
        assert_eq!(of_text(Array, "[[]]".into(), 126), text("[[]]"));
    }
}
