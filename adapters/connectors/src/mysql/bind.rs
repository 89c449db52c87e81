//! A value → what is bound: a type, and bytes of it.
//!
//! | value | type |
//! |---|---|
//! | `Bool` | `TINYINT`, 1 or 0 |
//! | `I64` | `BIGINT` |
//! | `U64` | `BIGINT UNSIGNED` |
//! | `F64` | `DECIMAL`, as a number that is written out is; `DOUBLE` for one with more digits than that has |
//! | `Decimal` | `DECIMAL` |
//! | `Bytes` | `BLOB` |
//! | `Timestamp` | a text as MySQL writes it; with an offset, the same moment in UTC, which is the session's time zone |
//! | `Json`, `Array` | their JSON, as text |
//! | `Text` | text in `utf8mb4` |
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Error, ErrorKind, Json, value::Value};

use super::packet::put_counted;
use crate::shared::utc_text;

/// Types of the protocol: <https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html>
mod kind {
    pub(super) const TINY: u8 = 1;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const NULL: u8 = 6;
    pub(super) const LONGLONG: u8 = 8;
    pub(super) const NEWDECIMAL: u8 = 246;
    pub(super) const BLOB: u8 = 252;
    pub(super) const VAR_STRING: u8 = 253;
}

const COM_STMT_EXECUTE: u8 = 0x17;
const UNSIGNED: u8 = 0x80;
/// The most digits of a `DECIMAL`, and the most behind its point.
const MOST_DIGITS: usize = 65;
const MOST_FRACTION_DIGITS: usize = 30;

/// The packet that runs a prepared statement with values.
///
/// # Errors
/// [`Constraint`](ErrorKind::Constraint) for a value that MySQL does not have.
pub(super) fn execute(statement: u32, values: &[Value]) -> Result<Vec<u8>, Error> {
    let mut packet = vec![COM_STMT_EXECUTE];
    packet.extend_from_slice(&statement.to_le_bytes());
    // No cursor; once.
    packet.extend_from_slice(&[0, 1, 0, 0, 0]);
    if values.is_empty() {
        return Ok(packet);
    }
    let mut nulls = vec![0_u8; values.len().div_ceil(8)];
    let mut types = Vec::with_capacity(2 * values.len());
    let mut bytes = Vec::new();
    for (number, value) in values.iter().enumerate() {
        let (kind, flag) = put(value, &mut bytes)?;
        types.extend_from_slice(&[kind, flag]);
        if kind == kind::NULL
            && let Some(byte) = nulls.get_mut(number / 8)
        {
            *byte |= 1 << (number % 8);
        }
    }
    packet.extend_from_slice(&nulls);
    // The types come along.
    packet.push(1);
    packet.extend_from_slice(&types);
    packet.extend_from_slice(&bytes);
    Ok(packet)
}

/// Appends a value; its type.
fn put(value: &Value, bytes: &mut Vec<u8>) -> Result<(u8, u8), Error> {
    let text = |kind: u8, text: &[u8], bytes: &mut Vec<u8>| {
        put_counted(bytes, text);
        (kind, 0)
    };
    Ok(match value {
        Value::Null => (kind::NULL, 0),
        Value::Bool(truth) => {
            bytes.push((*truth).into());
            (kind::TINY, 0)
        }
        Value::I64(number) => {
            bytes.extend_from_slice(&number.to_le_bytes());
            (kind::LONGLONG, 0)
        }
        Value::U64(number) => {
            bytes.extend_from_slice(&number.to_le_bytes());
            (kind::LONGLONG, UNSIGNED)
        }
        Value::F64(number) if number.is_finite() => {
            let digits = number.to_string();
            if is_decimal(&digits) {
                return Ok(text(kind::NEWDECIMAL, digits.as_bytes(), bytes));
            }
            bytes.extend_from_slice(&number.to_le_bytes());
            (kind::DOUBLE, 0)
        }
        Value::F64(_) => return Err(Error::new(ErrorKind::Constraint, "MySQL has neither infinities nor NaN")),
        Value::Decimal(digits) => text(kind::NEWDECIMAL, digits.as_bytes(), bytes),
        Value::Bytes(content) => text(kind::BLOB, content, bytes),
        Value::Text(content) => text(kind::VAR_STRING, content.as_bytes(), bytes),
        Value::Timestamp(moment) => text(kind::VAR_STRING, utc_text(moment).as_deref().unwrap_or(moment).as_bytes(), bytes),
        Value::Json(json) => text(kind::VAR_STRING, json.to_string().as_bytes(), bytes),
        Value::Array(elements) => {
            let json = Json::Array(elements.iter().map(element).collect());
            text(kind::VAR_STRING, json.to_string().as_bytes(), bytes)
        }
    })
}

/// Whether `DECIMAL` has so many digits. It has no negative zero.
fn is_decimal(text: &str) -> bool {
    let (whole, fraction) = text.trim_start_matches('-').split_once('.').unwrap_or((text.trim_start_matches('-'), ""));
    whole.len() + fraction.len() <= MOST_DIGITS && fraction.len() <= MOST_FRACTION_DIGITS && text != "-0"
}

/// An element of a JSON list. Integers stay exact; bytes are base64.
fn element(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::I64(value) => Json::from(*value),
        Value::U64(value) => Json::from(*value),
        Value::F64(value) => Json::from(*value),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => Json::String(STANDARD.encode(bytes)),
        Value::Json(json) => json.clone(),
        Value::Array(elements) => Json::Array(elements.iter().map(element).collect()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn packets_are_those_of_the_protocol() {
        assert_eq!(execute(7, &[]).unwrap(), [0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0]);
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::I64(-2),
            Value::U64(u64::MAX),
            Value::F64(1e300),
            Value::Decimal("1.50".into()),
            Value::Bytes(vec![0, 255]),
            Value::Text("é".into()),
            Value::Json(json!({"a": 1})),
            Value::Array(vec![Value::I64(1), Value::Bytes(vec![1])]),
        ];
        let mut expected = vec![0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1];
        expected.extend([6, 0, 1, 0, 8, 0, 8, 0x80, 5, 0, 246, 0, 252, 0, 253, 0, 253, 0, 253, 0]);
        expected.push(1);
        expected.extend((-2_i64).to_le_bytes());
        expected.extend(u64::MAX.to_le_bytes());
        expected.extend(1e300_f64.to_le_bytes());
        for text in [&b"1.50"[..], &[0, 255], "é".as_bytes(), b"{\"a\":1}", b"[1,\"AQ==\"]"] {
            expected.push(text.len() as u8);
            expected.extend(text);
        }
        assert_eq!(execute(1, &values).unwrap(), expected);
        for (number, expected) in [(0.1, "0.1"), (-7.0, "-7"), (1e21, "1000000000000000000000")] {
            let mut bytes = Vec::new();
            assert_eq!(put(&Value::F64(number), &mut bytes), Ok((246, 0)));
            assert_eq!(&bytes[1..], expected.as_bytes());
        }
        for number in [-0.0, 5e-324, 1e65, 1e-31] {
            assert_eq!(put(&Value::F64(number), &mut Vec::new()), Ok((5, 0)), "{number}");
        }
        assert_eq!(execute(1, &vec![Value::Null; 9]).unwrap()[10..12], [255, 1]);
        assert_eq!(execute(1, &[Value::F64(f64::NAN)]).unwrap_err().kind, ErrorKind::Constraint);
    }
}
