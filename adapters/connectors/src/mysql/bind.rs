//! Values → the packet that a prepared statement is run with: a type for each, and bytes of it.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>

use millrace_core::{Error, value::Value};

use super::packet::put_counted;
use crate::mysql_text::Parameter;

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

/// The packet that runs a prepared statement with values.
///
/// # Errors
/// [`Data`](millrace_core::ErrorKind::Data) for a value that MySQL does not have.
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
    Ok(match Parameter::of(value)? {
        Parameter::Null => (kind::NULL, 0),
        Parameter::Bool(truth) => {
            bytes.push(truth.into());
            (kind::TINY, 0)
        }
        Parameter::I64(number) => {
            bytes.extend_from_slice(&number.to_le_bytes());
            (kind::LONGLONG, 0)
        }
        Parameter::U64(number) => {
            bytes.extend_from_slice(&number.to_le_bytes());
            (kind::LONGLONG, UNSIGNED)
        }
        Parameter::Double(number) => {
            bytes.extend_from_slice(&number.to_le_bytes());
            (kind::DOUBLE, 0)
        }
        Parameter::Decimal(digits) => text(kind::NEWDECIMAL, digits.as_bytes(), bytes),
        Parameter::Bytes(content) => text(kind::BLOB, content, bytes),
        Parameter::Text(content) => text(kind::VAR_STRING, content.as_bytes(), bytes),
    })
}

#[cfg(test)]
mod tests {
    use millrace_core::ErrorKind;
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
        assert_eq!(execute(1, &[Value::F64(f64::NAN)]).unwrap_err().kind, ErrorKind::Data);
    }
}
