//! A value → an attribute value, and back.
//!
//! | value | type | | back |
//! |---|---|---|---|
//! | `Text`, `Timestamp` | `S` | | `Text` |
//! | `I64`, `U64`, `Decimal`, `F64` | `N` | its digits; no double that is not finite | `I64`, `F64`, or `Decimal` where a double would round it |
//! | `Bool` | `BOOL` | | `Bool` |
//! | `Null` | `NULL` | | `Null` |
//! | `Bytes` | `B` | base64 | `Bytes` |
//! | `Json`, `Array` | `M`, `L`, and those above | | `Json`, `Array` |
//! | | `SS`, `NS`, `BS` | | `Array`, sorted: a set has no order |

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{
    Error, ErrorKind, Json, Result,
    value::{MAX_SAFE_INTEGER, Value},
};
use serde_json::{Map, json};

/// The longest text of a number: 38 digits, a sign, a point, an exponent, and zeros that another
/// server may write out.
const LONGEST_NUMBER: usize = 200;

/// A value as a parameter.
///
/// # Errors
/// [`Data`](ErrorKind::Data) for a number that is not finite.
pub(super) fn written(value: &Value) -> Result<Json> {
    Ok(match value {
        Value::Null => json!({ "NULL": true }),
        Value::Bool(truth) => json!({ "BOOL": truth }),
        Value::I64(number) => json!({ "N": number.to_string() }),
        Value::U64(number) => json!({ "N": number.to_string() }),
        Value::F64(number) if number.is_finite() => json!({ "N": digits(*number) }),
        Value::F64(_) => return Err(no_value("a number that is not finite")),
        Value::Decimal(text) if is_number(text) => json!({ "N": text }),
        Value::Decimal(_) => return Err(no_value("a decimal that is not a number")),
        Value::Text(text) | Value::Timestamp(text) => json!({ "S": text }),
        Value::Bytes(bytes) => json!({ "B": STANDARD.encode(bytes) }),
        Value::Json(document) => of_document(document),
        Value::Array(elements) => json!({ "L": elements.iter().map(written).collect::<Result<Vec<_>>>()? }),
    })
}

fn no_value(what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("a value of the statement is {what}, which DynamoDB does not store"))
}

/// The shortest digits that give the same double; those of a very large or small one have an
/// exponent.
fn digits(number: f64) -> String {
    if number == 0.0 || (1e-7..1e21).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}

fn of_document(document: &Json) -> Json {
    match document {
        Json::Null => json!({ "NULL": true }),
        Json::Bool(truth) => json!({ "BOOL": truth }),
        Json::Number(number) => json!({ "N": number.to_string() }),
        Json::String(text) => json!({ "S": text }),
        Json::Array(elements) => json!({ "L": elements.iter().map(of_document).collect::<Vec<_>>() }),
        Json::Object(members) => {
            json!({ "M": members.iter().map(|(key, value)| (key.clone(), of_document(value))).collect::<Map<_, _>>() })
        }
    }
}

/// The value of an attribute; `None` for what is none.
pub(super) fn read(attribute: &Json) -> Option<Value> {
    let (kind, content) = only(attribute)?;
    Some(match kind {
        "S" => Value::Text(content.as_str()?.to_owned()),
        "N" => number(content.as_str()?)?,
        "BOOL" => Value::Bool(content.as_bool()?),
        "NULL" => content.as_bool().map(|_| Value::Null)?,
        "B" => Value::Bytes(STANDARD.decode(content.as_str()?).ok()?),
        "L" => Value::Array(content.as_array()?.iter().map(read).collect::<Option<_>>()?),
        "M" => Value::Json(document(attribute)?),
        "SS" => Value::Array(texts(content)?.into_iter().map(|text| Value::Text(text.to_owned())).collect()),
        "NS" => Value::Array(numbers(content)?),
        "BS" => {
            let mut bytes: Vec<Vec<u8>> = texts(content)?.into_iter().map(|text| STANDARD.decode(text).ok()).collect::<Option<_>>()?;
            bytes.sort();
            Value::Array(bytes.into_iter().map(Value::Bytes).collect())
        }
        _ => return None,
    })
}

/// A value within a document, as a cell would be.
fn document(attribute: &Json) -> Option<Json> {
    let (kind, content) = only(attribute)?;
    match kind {
        "M" => {
            let mut members: Vec<(&String, &Json)> = content.as_object()?.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let members = members.into_iter().map(|(key, value)| Some((key.clone(), document(value)?)));
            members.collect::<Option<Map<_, _>>>().map(Json::Object)
        }
        "L" => content.as_array()?.iter().map(document).collect::<Option<Vec<_>>>().map(Json::Array),
        _ => serde_json::to_value(read(attribute)?.json()).ok(),
    }
}

/// The one member of an attribute value.
fn only(attribute: &Json) -> Option<(&str, &Json)> {
    let members = attribute.as_object()?;
    let (kind, content) = members.iter().next()?;
    (members.len() == 1).then_some((kind.as_str(), content))
}

fn texts(list: &Json) -> Option<Vec<&str>> {
    let mut texts: Vec<&str> = list.as_array()?.iter().map(Json::as_str).collect::<Option<_>>()?;
    texts.sort_unstable();
    Some(texts)
}

fn numbers(list: &Json) -> Option<Vec<Value>> {
    let mut texts = texts(list)?;
    texts.sort_by(|a, b| {
        let [a, b] = [a, b].map(|text| text.parse::<f64>().unwrap_or(f64::INFINITY));
        a.total_cmp(&b)
    });
    texts.into_iter().map(number).collect()
}

/// A number where JSON has it exactly, and otherwise its digits.
fn number(text: &str) -> Option<Value> {
    if !is_number(text) {
        return None;
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Some(Value::I64(integer));
    }
    let double = text.parse::<f64>().ok().filter(|double| double.to_string() == text && double.abs() <= MAX_SAFE_INTEGER as f64);
    Some(double.map_or_else(|| Value::Decimal(text.to_owned()), Value::F64))
}

/// Digits, with a sign, a point and an exponent where they may be.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && are_digits(digits)
    });
    text.len() <= LONGEST_NUMBER && has_digits && are_digits(whole) && are_digits(fraction) && exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_out_with_their_types_and_come_back() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (value, wire) in [
            (Value::Null, r#"{"NULL":true}"#),
            (Value::Bool(false), r#"{"BOOL":false}"#),
            (Value::I64(i64::MIN), r#"{"N":"-9223372036854775808"}"#),
            (Value::I64((1 << 53) + 1), r#"{"N":"9007199254740993"}"#),
            (Value::F64(0.1), r#"{"N":"0.1"}"#),
            (Value::F64(-2.5), r#"{"N":"-2.5"}"#),
            (Value::Decimal("12345678901234567890.12345".into()), r#"{"N":"12345678901234567890.12345"}"#),
            (Value::Decimal("18446744073709551615".into()), r#"{"N":"18446744073709551615"}"#),
            (text(""), r#"{"S":""}"#),
            (text("o'neil; \0--"), r#"{"S":"o'neil; \u0000--"}"#),
            (Value::Bytes(vec![0, 255]), r#"{"B":"AP8="}"#),
            (Value::Array(vec![Value::I64(1), text("a"), Value::Null]), r#"{"L":[{"N":"1"},{"S":"a"},{"NULL":true}]}"#),
            (
                Value::Json(json!({"a": [1, 0.5, null], "b": {"c": true}})),
                r#"{"M":{"a":{"L":[{"N":"1"},{"N":"0.5"},{"NULL":true}]},"b":{"M":{"c":{"BOOL":true}}}}}"#,
            ),
        ] {
            let sent = written(&value).unwrap();
            assert_eq!(sent.to_string(), wire);
            assert_eq!(read(&sent), Some(value), "{wire}");
        }
        for (value, wire) in [
            (Value::U64(u64::MAX), r#"{"N":"18446744073709551615"}"#),
            (Value::F64(1e300), r#"{"N":"1e300"}"#),
            (Value::F64(1e20), r#"{"N":"100000000000000000000"}"#),
            (Value::F64(-0.0), r#"{"N":"-0"}"#),
            (Value::Timestamp("2026-01-02".into()), r#"{"S":"2026-01-02"}"#),
        ] {
            assert_eq!(written(&value).unwrap().to_string(), wire);
        }
        for value in [Value::F64(f64::NAN), Value::F64(f64::INFINITY), Value::Decimal("NaN".into()), Value::Decimal(String::new())] {
            assert_eq!(written(&Value::Array(vec![value])).unwrap_err().kind, ErrorKind::Data);
        }
    }

    #[test]
    fn sets_and_members_are_sorted() {
        for (wire, shown) in [
            (r#"{"SS":["b","a"]}"#, r#"["a","b"]"#),
            (r#"{"NS":["10","9","-1.5","9007199254740993"]}"#, r#"[-1.5,9,10,"9007199254740993"]"#),
            (r#"{"BS":["Yg==","YQ=="]}"#, r#"["YQ==","Yg=="]"#),
            (
                r#"{"M":{"z":{"N":"1.50"},"a":{"M":{"y":{"B":"AA=="},"x":{"SS":["c","b"]}}}}}"#,
                r#"{"a":{"x":["b","c"],"y":"AA=="},"z":"1.50"}"#,
            ),
            (r#"{"N":"9007199254740993.5"}"#, r#""9007199254740993.5""#),
            (r#"{"N":"1E+21"}"#, r#""1E+21""#),
        ] {
            let value = read(&serde_json::from_str(wire).unwrap()).unwrap();
            assert_eq!(serde_json::to_string(&value.json()).unwrap(), shown, "{wire}");
        }
    }

    #[test]
    fn what_is_no_attribute_is_none() {
        let others = [r#"{"S":"a","N":"1"}"#, r#"{"X":"a"}"#, r#"{"NULL":1}"#, "{}", "null", "7"];
        let numbers = [r#"{"N":1}"#, r#"{"N":"x"}"#, r#"{"N":""}"#, r#"{"N":"1e"}"#, r#"{"N":"Infinity"}"#, r#"{"NS":["x"]}"#];
        let contents = [r#"{"S":1}"#, r#"{"B":"!"}"#, r#"{"L":{}}"#, r#"{"M":[]}"#, r#"{"M":{"a":1}}"#, r#"{"L":[1]}"#, r#"{"SS":[1]}"#];
        for wire in others.iter().chain(&numbers).chain(&contents) {
            assert_eq!(read(&serde_json::from_str(wire).unwrap()), None, "{wire}");
        }
        assert_eq!(read(&json!({ "N": "1".repeat(300) })), None);
    }
}
