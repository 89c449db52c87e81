//! A cell as Vitess writes it, and its column → a value.
//!
//! | type | value |
//! |---|---|
//! | `INT8` … `UINT64`, `YEAR`, `BIT` | `I64`; `U64` beyond it |
//! | `FLOAT32`, `FLOAT64` | `F64` |
//! | `DECIMAL` | `Decimal`: its digits |
//! | `DATETIME` | `Timestamp`: `2026-01-02T03:04:05.123456` |
//! | `TIMESTAMP` | `Timestamp`: `2026-01-02T03:04:05.123456Z` |
//! | `DATE`, `TIME` | `Timestamp`, as MySQL writes it |
//! | `JSON` | `Json`; a number in it that a double does not keep is text |
//! | every other, in the character set of bytes | `Bytes` |
//! | every other | `Text` |
//!
//! The names are those of `query.proto` of Vitess: <https://github.com/vitessio/vitess/blob/main/proto/query.proto>.

use millrace_core::{Json, value::Value};

use crate::mysql_text::cell::{bits, json, moment, text, unsigned};

/// The character set of bytes.
const BINARY: u64 = 63;

/// What is made of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Integer,
    Bits,
    Float,
    Decimal,
    Moment,
    DateTime,
    Timestamp,
    Json,
    Text,
    Bytes,
}

impl Kind {
    /// Of a column. What is not said is nothing, or 0: that is how its messages become JSON.
    pub(super) fn of(field: &Json) -> Self {
        let name = field.get("type").and_then(Json::as_str).unwrap_or("NULL_TYPE");
        match name {
            "NULL_TYPE" | "NULL" => Self::Null,
            "INT8" | "INT16" | "INT24" | "INT32" | "INT64" | "UINT8" | "UINT16" | "UINT24" | "UINT32" | "UINT64" | "YEAR" => Self::Integer,
            "BIT" => Self::Bits,
            "FLOAT32" | "FLOAT64" => Self::Float,
            "DECIMAL" => Self::Decimal,
            "DATE" | "TIME" => Self::Moment,
            "DATETIME" => Self::DateTime,
            "TIMESTAMP" => Self::Timestamp,
            "JSON" => Self::Json,
            "GEOMETRY" | "VECTOR" => Self::Bytes,
            // A text whose collation is binary has a name of bytes, too: its character set decides.
            _ => match field.get("charset").and_then(Json::as_u64) {
                Some(BINARY) => Self::Bytes,
                None if matches!(name, "BINARY" | "VARBINARY" | "BLOB") => Self::Bytes,
                _ => Self::Text,
            },
        }
    }

    /// The value of a cell. `None`: it is not one of its type.
    pub(super) fn value(self, cell: &[u8]) -> Option<Value> {
        let ascii = || str::from_utf8(cell).ok().filter(|text| text.is_ascii());
        Some(match self {
            Self::Null => Value::Null,
            Self::Integer => {
                let digits = ascii()?;
                digits.parse().map(Value::I64).or_else(|_| digits.parse().map(unsigned)).ok()?
            }
            Self::Bits => bits(cell)?,
            Self::Float => Value::F64(ascii()?.parse().ok()?),
            Self::Decimal => Value::Decimal(ascii()?.to_owned()),
            Self::Moment => Value::Timestamp(ascii()?.to_owned()),
            Self::DateTime | Self::Timestamp => {
                let text = ascii()?;
                let (date, time) = text.split_once(' ')?;
                let is_date = date.split('-').skip(1).all(|part| part != "00");
                moment(date, time, is_date, self == Self::Timestamp)
            }
            Self::Json => json(cell),
            Self::Text => text(cell),
            Self::Bytes => Value::Bytes(cell.to_vec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_by_their_type() {
        let moment = |text: &str| Some(Value::Timestamp(text.to_owned()));
        let cases = [
            (json!({ "type": "INT8", "charset": 63 }), &b"-1"[..], Some(Value::I64(-1))),
            (json!({ "type": "INT64", "charset": 63 }), b"-9223372036854775808", Some(Value::I64(i64::MIN))),
            (json!({ "type": "UINT64", "charset": 63 }), b"18446744073709551615", Some(Value::U64(u64::MAX))),
            (json!({ "type": "UINT64", "charset": 63 }), b"7", Some(Value::I64(7))),
            (json!({ "type": "INT64", "charset": 63 }), b"7 ", None),
            (json!({ "type": "YEAR", "charset": 63 }), b"2026", Some(Value::I64(2026))),
            (json!({ "type": "BIT", "charset": 63 }), &[1, 2], Some(Value::I64(258))),
            (json!({ "type": "BIT", "charset": 63 }), &[1; 9], None),
            (json!({ "type": "FLOAT32", "charset": 63 }), b"0.1", Some(Value::F64(0.1))),
            (json!({ "type": "FLOAT64", "charset": 63 }), b"5e-324", Some(Value::F64(5e-324))),
            (json!({ "type": "DECIMAL", "charset": 63 }), b"1.50", Some(Value::Decimal("1.50".into()))),
            (json!({ "type": "DATE", "charset": 63 }), b"2026-01-02", moment("2026-01-02")),
            (json!({ "type": "DATETIME", "charset": 63 }), b"2026-01-02 03:04:05.123456", moment("2026-01-02T03:04:05.123456")),
            (json!({ "type": "TIMESTAMP", "charset": 63 }), b"2026-01-02 03:04:05", moment("2026-01-02T03:04:05Z")),
            (json!({ "type": "TIMESTAMP", "charset": 63 }), b"0000-00-00 00:00:00", moment("0000-00-00 00:00:00")),
            (json!({ "type": "DATETIME", "charset": 63 }), b"2026-05-00 00:00:00", moment("2026-05-00 00:00:00")),
            (json!({ "type": "DATETIME", "charset": 63 }), b"2026", None),
            (json!({ "type": "TIME", "charset": 63 }), b"-838:59:59.000000", moment("-838:59:59.000000")),
            (json!({ "type": "JSON", "charset": 63 }), br#"{"a": [1.5]}"#, Some(Value::Json(json!({ "a": [1.5] })))),
            (json!({ "type": "ENUM", "charset": 255 }), b"a", Some(Value::Text("a".into()))),
            (json!({ "type": "BINARY", "charset": 255 }), "é".as_bytes(), Some(Value::Text("é".into()))),
            (json!({ "type": "TEXT", "charset": 63 }), &[0, 255], Some(Value::Bytes(vec![0, 255]))),
            (json!({ "type": "BLOB" }), &[0], Some(Value::Bytes(vec![0]))),
            (json!({ "type": "VARCHAR" }), b"a", Some(Value::Text("a".into()))),
            (json!({ "type": "VARCHAR", "charset": 255 }), &[255], Some(Value::Bytes(vec![255]))),
            (json!({ "type": "GEOMETRY", "charset": 63 }), &[1], Some(Value::Bytes(vec![1]))),
            (json!({}), b"", Some(Value::Null)),
        ];
        for (field, cell, expected) in cases {
            assert_eq!(Kind::of(&field).value(cell), expected, "{field} {cell:?}");
        }
    }
}
