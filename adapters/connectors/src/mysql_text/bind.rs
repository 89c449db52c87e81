//! A value → what it is to MySQL.
//!
//! | value | is |
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

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use millrace_core::{Error, ErrorKind, Json, value::Value};

use crate::shared::utc_text;

/// The most digits of a `DECIMAL`, and the most behind its point.
const MOST_DIGITS: usize = 65;
const MOST_FRACTION_DIGITS: usize = 30;

/// What a value is to MySQL.
#[derive(Debug, PartialEq)]
pub(crate) enum Parameter<'a> {
    /// `NULL`
    Null,
    /// `TINYINT`
    Bool(bool),
    /// `BIGINT`
    I64(i64),
    /// `BIGINT UNSIGNED`
    U64(u64),
    /// `DOUBLE`, and neither an infinity nor NaN.
    Double(f64),
    /// `DECIMAL`: its digits, as whoever made them wrote them.
    Decimal(Cow<'a, str>),
    /// `BLOB`
    Bytes(&'a [u8]),
    /// Text
    Text(Cow<'a, str>),
}

impl<'a> Parameter<'a> {
    /// What a value is.
    ///
    /// # Errors
    /// [`Data`](ErrorKind::Data) for a value that MySQL does not have.
    pub(crate) fn of(value: &'a Value) -> Result<Self, Error> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::I64(number) => Self::I64(*number),
            Value::U64(number) => Self::U64(*number),
            Value::F64(number) if number.is_finite() => {
                let digits = number.to_string();
                if is_decimal(&digits) { Self::Decimal(digits.into()) } else { Self::Double(*number) }
            }
            Value::F64(_) => return Err(Error::new(ErrorKind::Data, "MySQL has neither infinities nor NaN")),
            Value::Decimal(digits) => Self::Decimal(digits.into()),
            Value::Bytes(content) => Self::Bytes(content),
            Value::Text(content) => Self::Text(content.into()),
            Value::Timestamp(moment) => Self::Text(utc_text(moment).map_or_else(|| moment.into(), Cow::Owned)),
            Value::Json(json) => Self::Text(json.to_string().into()),
            Value::Array(elements) => Self::Text(Json::Array(elements.iter().map(element).collect()).to_string().into()),
        })
    }
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
