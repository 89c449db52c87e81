//! One value of a result.

use std::{borrow::Cow, fmt};

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use millrace_core::value::Value;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, Visitor},
};

/// Base64 as Hrana has it: sent without padding, taken with it or without.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_encode_padding(false).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// `{"type":"integer","value":"1"}` and the like, members in any order.
pub(super) struct Cell(pub(super) Value);

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Null,
    Integer,
    Float,
    Text,
    Blob,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Type,
    Value,
    Base64,
    #[serde(other)]
    Other,
}

/// What stands under `value`.
enum Scalar<'de> {
    Null,
    Integer(i64),
    Float(f64),
    Text(Cow<'de, str>),
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cell, A::Error> {
        let mut kind = None;
        let mut scalar = Scalar::Null;
        let mut base64 = None;
        while let Some(member) = map.next_key()? {
            match member {
                Member::Type => kind = Some(map.next_value()?),
                Member::Value => scalar = map.next_value()?,
                Member::Base64 => base64 = Some(map.next_value::<Scalar<'de>>()?),
                Member::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let value = match (kind, scalar, base64) {
            (Some(Kind::Null), ..) => Value::Null,
            (Some(Kind::Integer), Scalar::Text(digits), _) => Value::I64(digits.parse().map_err(|_| A::Error::custom("no integer"))?),
            (Some(Kind::Integer), Scalar::Integer(value), _) => Value::I64(value),
            (Some(Kind::Float), Scalar::Float(value), _) => Value::F64(value),
            #[allow(clippy::cast_precision_loss, reason = "a float without a fraction, written without its point")]
            (Some(Kind::Float), Scalar::Integer(value), _) => Value::F64(value as f64),
            // An infinity: JSON has no form for it, and its sign is lost.
            (Some(Kind::Float), Scalar::Null, _) => Value::Null,
            (Some(Kind::Text), Scalar::Text(text), _) => Value::Text(text.into_owned()),
            (Some(Kind::Blob), _, Some(Scalar::Text(text))) => {
                Value::Bytes(BASE64.decode(text.as_bytes()).map_err(|_| A::Error::custom("no base64"))?)
            }
            _ => return Err(A::Error::custom("no value")),
        };
        Ok(Cell(value))
    }
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Null)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        #[allow(clippy::cast_precision_loss, reason = "no integer of SQLite, so it can only be a float")]
        Ok(i64::try_from(value).map_or(Scalar::Float(value as f64), Scalar::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }
}
