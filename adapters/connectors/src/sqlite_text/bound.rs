//! What a value is to SQLite.

use std::borrow::Cow;

use millrace_core::{Error, ErrorKind, Result, value::Value};

use super::json_array;

/// A value as SQLite has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SqliteValue<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Blob(&'a [u8]),
}

impl<'a> SqliteValue<'a> {
    /// A truth value is 0 or 1, an integer beyond 64 bits is text, a NaN is `NULL`; a list is JSON
    /// text, for `json_each(?1)`.
    pub(crate) fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Integer(i64::from(*value)),
            Value::I64(value) => Self::Integer(*value),
            Value::U64(value) => i64::try_from(*value).map_or_else(|_| Self::Text(Cow::Owned(value.to_string())), Self::Integer),
            Value::F64(value) if value.is_nan() => Self::Null,
            Value::F64(value) => Self::Real(*value),
            Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => Self::Text(Cow::Borrowed(text)),
            Value::Bytes(bytes) => Self::Blob(bytes),
            Value::Json(json) => Self::Text(Cow::Owned(json.to_string())),
            Value::Array(elements) => Self::Text(Cow::Owned(json_array::of_array(elements))),
        }
    }

    /// A value that goes through JSON, which has no form for an infinity. `to` is who it is sent
    /// to.
    ///
    /// # Errors
    /// [`Data`](ErrorKind::Data) for an infinite number.
    pub(crate) fn in_json(value: &'a Value, to: &str) -> Result<Self> {
        match Self::of(value) {
            Self::Real(value) if value.is_infinite() => {
                Err(Error::new(ErrorKind::Data, format!("an infinite number cannot be sent to {to}")))
            }
            bound => Ok(bound),
        }
    }
}

#[cfg(test)]
mod tests {
    use millrace_core::Json;

    use super::*;

    #[test]
    fn every_value_has_its_form() {
        let text = |text: &'static str| SqliteValue::Text(Cow::Borrowed(text));
        let table = [
            (Value::Null, SqliteValue::Null),
            (Value::Bool(true), SqliteValue::Integer(1)),
            (Value::I64(i64::MIN), SqliteValue::Integer(i64::MIN)),
            (Value::U64(7), SqliteValue::Integer(7)),
            (Value::U64(u64::MAX), text("18446744073709551615")),
            (Value::F64(-0.5), SqliteValue::Real(-0.5)),
            (Value::F64(f64::NAN), SqliteValue::Null),
            (Value::F64(f64::INFINITY), SqliteValue::Real(f64::INFINITY)),
            (Value::Decimal("1.50".into()), text("1.50")),
            (Value::Text("a\0b".into()), text("a\0b")),
            (Value::Bytes(vec![0xde]), SqliteValue::Blob(&[0xde])),
            (Value::Json(Json::from("a\"b")), text(r#""a\"b""#)),
            (Value::Timestamp("2026-01-02".into()), text("2026-01-02")),
            (Value::Array(vec![Value::I64((1 << 53) + 1), Value::Text("x".into())]), text(r#"[9007199254740993,"x"]"#)),
        ];
        for (value, expected) in table {
            assert_eq!(SqliteValue::of(&value), expected, "{value:?}");
        }
        for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(SqliteValue::in_json(&Value::F64(infinity), "D1").map_err(|error| error.kind), Err(ErrorKind::Data));
        }
    }
}
