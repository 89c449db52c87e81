//! A value → what is bound: text, and the type that it is said to have.
//!
//! | value | type | text |
//! |---|---|---|
//! | `Bool` | `boolean` | `t`, `f` |
//! | `I64`, `U64` | the smallest of `integer`, `bigint`, `numeric` | its digits |
//! | `F64` | `numeric`; `double precision` for what is not finite | the shortest digits that give the same double |
//! | `Decimal` | `numeric` | its digits |
//! | `Bytes` | `bytea` | `\x…` |
//! | `Text`, `Timestamp` | that of its place | itself |
//! | `Json` | that of its place | its JSON; a list as its place takes it, see `lists` |
//! | `Array` | that of its place | `{…}` |
//! | `Null` | that of its place | |
//!
//! So a value means what it would mean if the author had written it out, quotes around texts
//! included. `numeric` turns into a double by itself where one is wanted; a double would not turn
//! into a `numeric`.

use super::{Oid, array};
use millrace_core::{hex, value::Value};

/// The type that is found out by PostgreSQL.
const OF_ITS_PLACE: Oid = 0;
const BOOL: Oid = 16;
const BYTEA: Oid = 17;
const INT8: Oid = 20;
const INT4: Oid = 23;
const FLOAT8: Oid = 701;
const NUMERIC: Oid = 1700;

/// One bound value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    /// The declared type.
    pub(crate) oid: Oid,
    /// The value as text; `None` is `NULL`.
    pub(crate) value: Option<String>,
}

/// The type that a value is declared with.
pub(crate) fn type_of(value: &Value) -> Oid {
    match value {
        Value::Bool(_) => BOOL,
        Value::I64(number) => integer(*number),
        Value::U64(number) => i64::try_from(*number).map_or(NUMERIC, integer),
        Value::F64(number) if number.is_finite() => NUMERIC,
        Value::F64(_) => FLOAT8,
        Value::Decimal(_) => NUMERIC,
        Value::Bytes(_) => BYTEA,
        Value::Null | Value::Text(_) | Value::Timestamp(_) | Value::Json(_) | Value::Array(_) => OF_ITS_PLACE,
    }
}

impl Parameter {
    pub(crate) fn of(value: &Value) -> Self {
        Self { oid: type_of(value), value: text(value) }
    }

    /// The name of the declared type, as a cast has it; `None` where PostgreSQL finds the type out.
    pub(crate) const fn type_name(&self) -> Option<&'static str> {
        Some(match self.oid {
            BOOL => "bool",
            BYTEA => "bytea",
            INT8 => "int8",
            INT4 => "int4",
            FLOAT8 => "float8",
            NUMERIC => "numeric",
            _ => return None,
        })
    }
}

/// The text of a value, as its type's input function takes it; `None` is `NULL`.
pub(crate) fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(true) => "t".to_owned(),
        Value::Bool(false) => "f".to_owned(),
        Value::I64(number) => number.to_string(),
        Value::U64(number) => number.to_string(),
        Value::F64(number) if number.is_nan() => "NaN".to_owned(),
        Value::F64(number) if number.is_infinite() => if *number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        Value::F64(number) => number.to_string(),
        Value::Decimal(text) | Value::Text(text) | Value::Timestamp(text) => text.clone(),
        Value::Bytes(bytes) => format!("\\x{}", hex::encode(bytes)),
        Value::Json(json) => json.to_string(),
        Value::Array(elements) => array::write(elements, ','),
    })
}

fn integer(number: i64) -> Oid {
    if i32::try_from(number).is_ok() { INT4 } else { INT8 }
}

#[cfg(test)]
mod tests {
    use millrace_core::Json;

    use super::*;

    #[test]
    fn a_value_is_what_it_would_be_written_out() {
        let text = |text: &str| Value::Text(text.to_owned());
        let cases = [
            (Value::Null, OF_ITS_PLACE, None),
            (Value::Bool(true), BOOL, Some("t")),
            (Value::Bool(false), BOOL, Some("f")),
            (Value::I64(-5), INT4, Some("-5")),
            (Value::I64(i64::from(i32::MAX)), INT4, Some("2147483647")),
            (Value::I64(2_147_483_648), INT8, Some("2147483648")),
            (Value::I64(i64::MIN), INT8, Some("-9223372036854775808")),
            (Value::U64(7), INT4, Some("7")),
            (Value::U64(u64::MAX), NUMERIC, Some("18446744073709551615")),
            (Value::F64(0.1), NUMERIC, Some("0.1")),
            (Value::F64(7.0), NUMERIC, Some("7")),
            (Value::F64(1e21), NUMERIC, Some("1000000000000000000000")),
            (Value::F64(f64::NAN), FLOAT8, Some("NaN")),
            (Value::F64(f64::NEG_INFINITY), FLOAT8, Some("-Infinity")),
            (Value::Decimal("1.50".into()), NUMERIC, Some("1.50")),
            (text("o'neil; --"), OF_ITS_PLACE, Some("o'neil; --")),
            (Value::Timestamp("2026-01-02".into()), OF_ITS_PLACE, Some("2026-01-02")),
            (Value::Bytes(vec![0, 0xab, 255]), BYTEA, Some("\\x00abff")),
            (Value::Bytes(vec![]), BYTEA, Some("\\x")),
            (Value::Json(Json::from("a\"b")), OF_ITS_PLACE, Some(r#""a\"b""#)),
            (Value::Array(vec![text("a"), Value::Null]), OF_ITS_PLACE, Some(r#"{"a",NULL}"#)),
        ];
        for (value, oid, expected) in cases {
            let param = Parameter::of(&value);
            assert_eq!(param, Parameter { oid, value: expected.map(str::to_owned) }, "{value:?}");
            assert_eq!(param.type_name().is_none(), oid == OF_ITS_PLACE, "{value:?}");
        }
    }
}
