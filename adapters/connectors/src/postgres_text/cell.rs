//! A cell's text and its type → a value.
//!
//! | type | value |
//! |---|---|
//! | `boolean` | `Bool` |
//! | `smallint`, `integer`, `bigint`, `oid` | `I64` |
//! | `real`, `double precision` | `F64` |
//! | `numeric` | `Decimal`: its digits, `NaN` and `Infinity` too |
//! | `bytea` | `Bytes` |
//! | `json`, `jsonb` | `Json`; a number in it that a double does not keep is text |
//! | `timestamptz` | `Timestamp` as RFC 3339 has it: `2026-01-02T03:04:05.123456Z` |
//! | `timestamp` | `Timestamp`: `2026-01-02T03:04:05.123456` |
//! | `date`, `time`, `timetz` | `Timestamp`, as PostgreSQL writes it |
//! | arrays of any of these | `Array`; `types` says how the server's own types are known |
//! | every other | `Text`, as PostgreSQL writes it |
//!
//! A date before Christ, an infinite one, and what is not as expected stay as PostgreSQL wrote
//! them.

use super::{Oid, array};
use crate::shared::exact_json;
use millrace_core::{hex, value::Value};

/// What is made of the text of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    One(Scalar),
    Array(Elements),
}

/// What an array is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    pub(crate) scalar: Scalar,
    /// The sign between two of them.
    pub(crate) sign: char,
}

/// What is made of one value's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Bool,
    Integer,
    Float,
    Decimal,
    Bytes,
    Json,
    DateTime,
    Time,
    Text,
}

impl Kind {
    const fn array(scalar: Scalar) -> Self {
        Self::Array(Elements { scalar, sign: ',' })
    }

    /// The numbers are those of `pg_type.dat`, which never change.
    pub(crate) const fn of(oid: Oid) -> Self {
        match oid {
            16 => Self::One(Scalar::Bool),
            20 | 21 | 23 | 26 => Self::One(Scalar::Integer),
            700 | 701 => Self::One(Scalar::Float),
            1700 => Self::One(Scalar::Decimal),
            17 => Self::One(Scalar::Bytes),
            114 | 3802 => Self::One(Scalar::Json),
            1114 | 1184 => Self::One(Scalar::DateTime),
            1082 | 1083 | 1266 => Self::One(Scalar::Time),
            1000 => Self::array(Scalar::Bool),
            1005 | 1007 | 1016 | 1028 => Self::array(Scalar::Integer),
            1021 | 1022 => Self::array(Scalar::Float),
            1231 => Self::array(Scalar::Decimal),
            1001 => Self::array(Scalar::Bytes),
            199 | 3807 => Self::array(Scalar::Json),
            1115 | 1185 => Self::array(Scalar::DateTime),
            1182 | 1183 | 1270 => Self::array(Scalar::Time),
            // char, name, text, character, character varying, interval, uuid, inet, cidr
            1002 | 1003 | 1009 | 1014 | 1015 | 1187 | 2951 | 1041 | 651 => Self::array(Scalar::Text),
            _ => Self::One(Scalar::Text),
        }
    }

    /// The same by the name of the type, `int4`, or `_int4` for its array; a column that counts by
    /// itself may be a `serial`.
    pub(crate) fn of_name(name: &str) -> Self {
        let element = match name.strip_prefix('_').unwrap_or(name) {
            "bool" => Scalar::Bool,
            "int2" | "int4" | "int8" | "oid" | "smallserial" | "serial" | "bigserial" => Scalar::Integer,
            "float4" | "float8" => Scalar::Float,
            "numeric" => Scalar::Decimal,
            "bytea" => Scalar::Bytes,
            "json" | "jsonb" => Scalar::Json,
            "timestamp" | "timestamptz" => Scalar::DateTime,
            "date" | "time" | "timetz" => Scalar::Time,
            "char" | "name" | "text" | "bpchar" | "varchar" | "interval" | "uuid" | "inet" | "cidr" => Scalar::Text,
            _ => return Self::One(Scalar::Text),
        };
        if name.starts_with('_') { Self::array(element) } else { Self::One(element) }
    }

    /// The value of a cell. The server converts to UTF-8 or fails; what is none all the same comes
    /// as bytes.
    pub(crate) fn value(self, bytes: &[u8]) -> Value {
        let Ok(text) = str::from_utf8(bytes) else { return Value::Bytes(bytes.to_vec()) };
        match self {
            Self::One(scalar) => scalar.value(text),
            Self::Array(Elements { scalar, sign }) => {
                array::read(text, sign, &|element| scalar.value(element)).unwrap_or_else(|| Value::Text(text.to_owned()))
            }
        }
    }
}

impl Scalar {
    fn value(self, text: &str) -> Value {
        let found = match self {
            Self::Bool => match text {
                "t" => Some(Value::Bool(true)),
                "f" => Some(Value::Bool(false)),
                _ => None,
            },
            Self::Integer => text.parse().ok().map(Value::I64),
            // Rust reads `NaN`, `Infinity` and `-Infinity`, too.
            Self::Float => text.parse().ok().map(Value::F64),
            Self::Decimal => Some(Value::Decimal(text.to_owned())),
            Self::Bytes => bytes(text).map(Value::Bytes),
            Self::Json => serde_json::from_slice(&exact_json(text.as_bytes())).ok().map(Value::Json),
            Self::DateTime => Some(Value::Timestamp(date_time(text).unwrap_or_else(|| text.to_owned()))),
            Self::Time => Some(Value::Timestamp(text.to_owned())),
            Self::Text => None,
        };
        found.unwrap_or_else(|| Value::Text(text.to_owned()))
    }
}

/// `2026-01-02 03:04:05.1+02` as `2026-01-02T03:04:05.1+02:00`, and `+00` as `Z`. `None` for
/// another form, a date before Christ among them.
fn date_time(text: &str) -> Option<String> {
    let (date, time) = text.split_once(' ')?;
    if date.len() != 10 || time.contains(' ') {
        return None;
    }
    let Some(sign) = time.find(['+', '-']) else { return Some(format!("{date}T{time}")) };
    let (time, zone) = time.split_at(sign);
    match zone.len() {
        _ if zone == "+00" => Some(format!("{date}T{time}Z")),
        3 => Some(format!("{date}T{time}{zone}:00")),
        6 => Some(format!("{date}T{time}{zone}")),
        // Local mean time, with seconds.
        _ => None,
    }
}

/// `\x…`, or the older form with octal escapes, which a server may be set to.
fn bytes(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("\\x") {
        return hex::decode(digits.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return Some(bytes),
            [b'\\', b'\\', rest @ ..] => {
                bytes.push(b'\\');
                rest
            }
            [b'\\', digits @ ..] => {
                let (octal, rest) = digits.split_at_checked(3)?;
                bytes.push(u8::from_str_radix(str::from_utf8(octal).ok()?, 8).ok()?);
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_by_their_type() {
        let time = |text: &str| Value::Timestamp(text.to_owned());
        let text = |text: &str| Value::Text(text.to_owned());
        let cases = [
            (16, "t", Value::Bool(true)),
            (16, "f", Value::Bool(false)),
            (20, "-9223372036854775808", Value::I64(i64::MIN)),
            (26, "4294967295", Value::I64(4_294_967_295)),
            (701, "0.1", Value::F64(0.1)),
            (701, "1e+300", Value::F64(1e300)),
            (701, "-Infinity", Value::F64(f64::NEG_INFINITY)),
            (1700, "12345678901234567890.10", Value::Decimal("12345678901234567890.10".into())),
            (1700, "NaN", Value::Decimal("NaN".into())),
            (17, "\\x00ff", Value::Bytes(vec![0, 255])),
            (17, "\\x", Value::Bytes(vec![])),
            (17, "a\\\\\\000\\377", Value::Bytes(vec![b'a', b'\\', 0, 255])),
            (17, "\\x0", Value::Text("\\x0".into())),
            (17, "\\9", text("\\9")),
            (3802, r#"{"b": 1, "a": [1.5]}"#, Value::Json(json!({"b": 1, "a": [1.5]}))),
            (114, "{", text("{")),
            (1184, "2026-01-02 03:04:05.123456+00", time("2026-01-02T03:04:05.123456Z")),
            (1184, "2026-01-02 03:04:05+05:30", time("2026-01-02T03:04:05+05:30")),
            (1184, "2026-01-02 03:04:05-08", time("2026-01-02T03:04:05-08:00")),
            (1184, "1800-01-01 00:00:00+00:53:28", time("1800-01-01 00:00:00+00:53:28")),
            (1184, "infinity", time("infinity")),
            (1184, "0044-03-15 00:00:00+00 BC", time("0044-03-15 00:00:00+00 BC")),
            (1184, "10000-01-01 00:00:00+00", time("10000-01-01 00:00:00+00")),
            (1114, "2026-01-02 03:04:05", time("2026-01-02T03:04:05")),
            (1082, "2026-01-02", time("2026-01-02")),
            (1083, "03:04:05.1", time("03:04:05.1")),
            (1186, "1 day 02:00:00", text("1 day 02:00:00")),
            (2950, "00000000-0000-0000-0000-000000000001", text("00000000-0000-0000-0000-000000000001")),
            (600, "(1,2)", text("(1,2)")),
            (1016, "{9007199254740993,NULL}", Value::Array(vec![Value::I64((1 << 53) + 1), Value::Null])),
            (3807, r#"{"{\"a\": 1}","2"}"#, Value::Array(vec![Value::Json(json!({"a": 1})), Value::Json(json!(2))])),
            (1009, "{}", Value::Array(vec![])),
            (1185, r#"{"2026-01-02 03:04:05+00"}"#, Value::Array(vec![time("2026-01-02T03:04:05Z")])),
            (16_400, "{happy,sad}", text("{happy,sad}")),
        ];
        for (oid, cell, expected) in cases {
            assert_eq!(Kind::of(oid).value(cell.as_bytes()), expected, "{oid} {cell}");
        }
        for (name, oid) in [
            ("bool", 16),
            ("int8", 20),
            ("float4", 700),
            ("numeric", 1700),
            ("bytea", 17),
            ("jsonb", 3802),
            ("timetz", 1266),
            ("uuid", 2950),
        ] {
            assert_eq!(Kind::of_name(name), Kind::of(oid), "{name}");
        }
        for (name, oid) in [
            ("_bool", 1000),
            ("_int2", 1005),
            ("_float8", 1022),
            ("_numeric", 1231),
            ("_json", 199),
            ("_timestamptz", 1185),
            ("_uuid", 2951),
            ("_mood", 16_400),
        ] {
            assert_eq!(Kind::of_name(name), Kind::of(oid), "{name}");
        }
        assert_eq!(Kind::of(25).value(&[0xff, b'a']), Value::Bytes(vec![0xff, b'a']));
        assert!(matches!(Kind::of(701).value(b"NaN"), Value::F64(nan) if nan.is_nan()));
    }
}
